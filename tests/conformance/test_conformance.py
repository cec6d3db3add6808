"""Every recorded case, run by Tidemark and compared with what real Flink answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import tidemark
from conformance.case import Case, Change
from conformance.check import unmentioned
from conformance.compare import differences
from conformance.script import write_script
from tests.conformance import not_yet
from tests.conformance.not_yet import feature_missing_for
from tests.conformance.record_by_record import changes_in_order
from tests.conformance.test_locally import NEED_SPARK, runs_locally
from tests.recorded import CASES as ALL
from tidemark.errors import NotSupported, TidemarkError
from tidemark.rows import json_row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _short(case: Case) -> str:
    return case.name.removeprefix(f"{case.area}/")


# Cases that run without Spark, in a fraction of the time, need not all run on it for each change, too.
# Of these areas the named ones do. Of those in a fixed order, which take a micro-batch for each
# record, some do that are about late rows, some about watermarks and some about changes. Of errors,
# those do that rows cause; the others come from planning, which is the same. Of all other areas one
# in eight does.
ON_SPARK = {
    "dedup-topn": (
        "keep_first keep_first_ties keep_last_late keep_last_of_changes limit_alone "
        "order_by_time_then order_limit_changelog top_of_count top_qualify "
        "top_rank_changelog top_retract_changelog top_retract_rank"
    ),
    "emit": "early_and_late early_and_lateness early_hop early_tumble late_fire_each late_hop",
    "match-recognize": (
        "aggregates late_rows match_rowtime measure_expressions no_partition "
        "over_window ties v_shape within"
    ),
    "over": (
        "by_value distinct_so_far first_last_value lag late_range_bounded of_groups "
        "over_then_window row_number_by_processing_time two_windows"
    ),
    "errors": (
        "case_branches cast_fails csv_bad_field csv_empty_line csv_missing_fields "
        "divide_by_zero json_bad_row null_event_time unknown_column window_of_months"
    ),
    "sequenced": (
        "cdc_full_join_updates interval_late_within scalar_correlated_order "
        "temporal_late_probe_left window_join_late_rows"
    ),
    "subquery": (
        "exists_groups in_correlated in_or lateral_left not_in_pairs quantified_all "
        "scalar_correlated scalar_having scalar_where"
    ),
}


# Of the areas about single functions and types, one in three does.
EACH = {"expressions": 3, "functions": 3, "types": 3}


def _for_each_change(cases: list[Case]) -> Iterator[str]:
    """The names of those that run on Spark for each change; the others are thorough."""
    seen: Counter[str] = Counter()
    for case in cases:
        seen[case.area] += 1
        only_here = not case.arrival and (not runs_locally(case) or case.name in NEED_SPARK)
        named = _short(case) in ON_SPARK.get(case.area, "").split()
        sampled = case.area not in ON_SPARK and seen[case.area] % EACH.get(case.area, 8) == 1
        if only_here or named or sampled:
            yield case.name


CASES = [case for case in ALL if case.flink]
_OFTEN = set(_for_each_change(CASES))
_PARAMETERS = [
    pytest.param(case, id=case.name, marks=[] if case.name in _OFTEN else pytest.mark.thorough)
    for case in CASES
]


def changes_of(case: Case, spark: SparkSession, folder: Path) -> list[Change]:
    """What Tidemark answers: the changelog of the script's last statement."""
    script = write_script(case, folder)
    session = tidemark.connect(spark)
    if case.name not in _OFTEN:
        # Of two operators with different keys, the second merges the changes of the first one's key
        # groups in any order.
        session.sql("SET 'pipeline.max-parallelism' = '1'")
    try:
        result = session.sql(script.read_text(encoding="utf-8"), name=f"{case.name}.sql")
        return [(c.kind, json_row(c.row, result.columns)) for c in result.changes()]
    finally:
        session.stop()


def answered(case: Case, spark: SparkSession, folder: Path) -> list[Change]:
    return (changes_in_order if case.arrival else changes_of)(case, spark, folder)


def as_expected_here(case: Case) -> Case:
    """The case with the answer that is Tidemark's own."""
    own = not_yet.DIFFERENT[case.name]
    return replace(case, compare=own.compare, expected=own.expected)


@pytest.mark.parametrize("case", _PARAMETERS)
def test_answers_as_flink_did(case: Case, spark: SparkSession, tmp_path: Path):
    if feature_missing_for(case):
        with pytest.raises(NotSupported):
            changes_of(case, spark, tmp_path)
    elif case.name in not_yet.DIFFERENT:
        changes = answered(case, spark, tmp_path)
        # What Flink refuses is run; what it answers is answered otherwise.
        assert case.compare == "error" or differences(case, changes)
        assert differences(as_expected_here(case), changes) == []
    elif case.compare == "error":
        with pytest.raises(TidemarkError) as raised:
            changes_of(case, spark, tmp_path)
        # Refusing a feature altogether is no judgment of this query.
        assert not isinstance(raised.value, NotSupported)
        assert unmentioned(case, str(raised.value)) == []
    else:
        assert differences(case, answered(case, spark, tmp_path)) == []


def test_list_of_missing_features_names_only_what_there_is():
    assert set(not_yet.AREAS) <= {case.area for case in ALL}
    named = set(not_yet.CASES) | set(not_yet.DIFFERENT)
    assert named <= {case.name for case in ALL}
