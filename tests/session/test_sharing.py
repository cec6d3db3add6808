"""The sessions of a process share the Spark that Tidemark has started."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import tidemark
from tidemark.errors import SetupError
from tidemark.spark import sharing


class Someone:
    pass


@pytest.mark.spark
def test_a_session_goes_on_when_another_one_stops(spark):
    first, second = tidemark.connect(), tidemark.connect()
    assert first.sql("SELECT 1 AS x").rows() == [{"x": 1}]
    assert second.sql("SELECT 2 AS x").rows() == [{"x": 2}]

    first.stop()

    assert second.sql("SELECT 3 AS x").rows() == [{"x": 3}]
    second.stop()
    assert spark.range(1).count() == 1


@pytest.mark.spark
def test_each_session_has_settings_of_its_own(spark):
    with tidemark.connect(spark_config={"spark.sql.shuffle.partitions": "5"}) as first:
        first.spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
        with tidemark.connect() as second:
            chosen = [
                session.spark.conf.get(key)
                for session in (first, second)
                for key in ("spark.sql.shuffle.partitions", "spark.sql.session.timeZone")
            ]
    assert chosen[:2] == ["5", "Asia/Tokyo"]
    assert chosen[2] == "2"
    assert chosen[3] != "Asia/Tokyo"


@pytest.mark.spark
def test_what_only_counts_at_the_start_cannot_be_set_later(spark):
    with (
        tidemark.connect(spark_config={"spark.driver.memory": "9g"}) as session,
        pytest.raises(SetupError, match=r"`spark\.driver\.memory` cannot be set"),
    ):
        session.sql("SELECT 1 AS x").rows()


def test_the_last_one_stops_spark(monkeypatch: pytest.MonkeyPatch):
    stopped = []
    conf = SimpleNamespace(getAll={})
    context = SimpleNamespace(_jsc="here")
    started = SimpleNamespace(
        conf=conf, sparkContext=context, stop=lambda: stopped.append("stopped")
    )
    monkeypatch.setattr(sharing, "_shared", None)
    monkeypatch.setattr(sharing, "start", lambda config: started)
    monkeypatch.setattr(sharing, "beside", lambda *_, **__: SimpleNamespace(conf=conf))
    someone, other, forgotten = Someone(), Someone(), Someone()

    assert sharing.join(someone, {}) is started
    assert sharing.join(other, {}) is not started
    sharing.join(forgotten, {})
    sharing.leave(someone)
    del forgotten
    assert stopped == []
    sharing.leave(other)
    sharing.leave(other)

    assert stopped == ["stopped"]
