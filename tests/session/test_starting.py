"""The settings that a streaming query starts with."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tidemark.spark.starting import starting

DELAY = "spark.sql.streaming.pollingDelay"
EMPTY = "spark.sql.streaming.noDataMicroBatches.enabled"


def session(**settings: str) -> SimpleNamespace:
    conf = dict(settings)
    return SimpleNamespace(
        all=conf,
        conf=SimpleNamespace(get=conf.get, set=conf.__setitem__, unset=lambda key: conf.pop(key)),
    )


@pytest.mark.parametrize(
    ("look_every", "delay"), [(None, "50ms"), (1, "10ms"), (60_000, "60000ms")]
)
def test_a_query_waits_as_long_as_its_sources_ask(look_every, delay):
    spark = session()
    with starting(spark, empty_batches=True, look_every=look_every):
        assert spark.all == {DELAY: delay}
    assert spark.all == {}


def test_what_the_user_has_set_stays():
    spark = session(**{DELAY: "7ms", EMPTY: "true"})
    with starting(spark, empty_batches=False, look_every=1000):
        assert spark.all == {DELAY: "7ms", EMPTY: "false"}
    assert spark.all == {DELAY: "7ms", EMPTY: "true"}


def test_packed_columns_need_no_generated_code():
    spark = session(**{"spark.sql.codegen.wholeStage": "true"})
    with starting(spark, empty_batches=True, packed=True):
        assert spark.all == {
            DELAY: "50ms",
            "spark.sql.codegen.wholeStage": "true",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        }


def test_settings_are_those_of_the_session_again_if_a_query_cannot_start():
    spark = session()
    with pytest.raises(ValueError, match="no"), starting(spark, empty_batches=False):
        raise ValueError("no")
    assert spark.all == {}
