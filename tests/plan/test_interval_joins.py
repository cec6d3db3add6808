"""Interval joins: what they mean as a plan, and what is refused, with the caret at the guilty SQL."""

from __future__ import annotations

import pytest

from tests.plan.marked import plan, refused, root, schema, world
from tidemark.errors import NotSupported
from tidemark.physical.explain import explain
from tidemark.plan.nodes import Filter, IntervalJoin, delay_ms, is_stateful, walk
from tidemark.session.workspace import Workspace

DDL = """
CREATE TABLE l (
  id INT, k STRING, v INT, d DECIMAL(10, 2), ts TIMESTAMP(3), lz TIMESTAMP_LTZ(3),
  pt AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'fake');
CREATE TABLE r (id BIGINT, k STRING, v INT, d DECIMAL(10, 2), ts TIMESTAMP(3), pt AS PROCTIME(),
  WATERMARK FOR ts AS ts) WITH ('connector' = 'fake');
"""


@pytest.fixture
def tables() -> Workspace:
    return world(DDL)


def join_of(sql: str, tables: Workspace) -> IntervalJoin:
    [found] = [node for node in walk(root(sql, tables)) if isinstance(node, IntervalJoin)]
    return found


def query(on: str, how: str = "") -> str:
    return f"SELECT l.id, r.id FROM l {how} JOIN r ON {on}"


@pytest.mark.parametrize(
    ("bounds", "lower", "upper"),
    [
        ("r.ts BETWEEN l.ts - INTERVAL '4' SECOND AND l.ts + INTERVAL '6' SECOND", -4000, 6000),
        ("r.ts >= l.ts - INTERVAL '4' SECOND AND r.ts <= l.ts + INTERVAL '6' SECOND", -4000, 6000),
        ("l.ts <= r.ts + INTERVAL '4' SECOND AND l.ts >= r.ts - INTERVAL '6' SECOND", -4000, 6000),
        ("l.ts BETWEEN r.ts - INTERVAL '6' SECOND AND r.ts + INTERVAL '4' SECOND", -4000, 6000),
        ("r.ts > l.ts - INTERVAL '4' SECOND AND r.ts < l.ts + INTERVAL '6' SECOND", -3999, 5999),
        ("l.ts < r.ts AND r.ts - INTERVAL '1' MINUTE < l.ts", 1, 59_999),
        ("l.ts - INTERVAL '1' SECOND <= r.ts + INTERVAL '3' SECOND AND l.ts >= r.ts", -4000, 0),
        ("INTERVAL '2' SECOND + l.ts >= r.ts AND r.ts >= l.ts - -INTERVAL '1' SECOND", 1000, 2000),
        ("l.ts = r.ts", 0, 0),
        ("l.ts + INTERVAL '5' SECOND = r.ts", 5000, 5000),
        ("r.ts >= l.ts AND r.ts >= l.ts + INTERVAL '1' SECOND AND r.ts <= l.ts + INTERVAL '1' DAY",
         1000, 86_400_000),
    ],
)  # fmt: skip
def test_bounds_are_read_in_every_spelling(bounds, lower, upper, tables):
    join = join_of(query(f"l.k = r.k AND {bounds}", "LEFT"), tables)

    assert (join.lower_ms, join.upper_ms) == (lower, upper)
    assert join.condition is None
    assert not join.processing_time


NEAR = "l.ts BETWEEN r.ts - INTERVAL '5' SECOND AND r.ts + INTERVAL '3' SECOND"


@pytest.mark.parametrize(
    "sql",
    [
        query(f"l.k = r.k AND {NEAR}"),
        f"SELECT l.id, r.id FROM l, r WHERE l.k = r.k AND {NEAR}",
        f"SELECT l.id, r.id FROM l JOIN r ON l.k = r.k WHERE {NEAR}",
        f"SELECT l.id, r.id FROM l JOIN r ON {NEAR} WHERE r.k = l.k",
    ],
)
def test_an_inner_join_may_have_its_condition_in_on_or_where(sql, tables):
    join = join_of(sql, tables)

    left, right = join.left.edge.names, join.right.edge.names
    assert ([left[i] for i in join.left_keys], [right[i] for i in join.right_keys]) == (
        ["k"],
        ["k"],
    )
    assert (join.lower_ms, join.upper_ms) == (-3000, 5000)


def test_several_keys_are_brought_to_common_types_and_may_take_nulls(tables):
    on = f"l.id = r.id AND l.v IS NOT DISTINCT FROM r.v AND UPPER(l.k) = r.k AND {NEAR}"
    join = join_of(query(on, "FULL"), tables)

    types = [
        [str(node.edge.columns[i].type) for i in keys]
        for node, keys in ((join.left, join.left_keys), (join.right, join.right_keys))
    ]
    assert types == [["BIGINT", "INT", "STRING"], ["BIGINT", "INT", "STRING"]]
    assert join.nulls_equal == (False, True, False)


def test_both_time_attributes_survive_and_padded_columns_take_nulls(tables):
    sql = f"SELECT l.id, l.ts, r.id AS rid, r.ts AS rts FROM l LEFT JOIN r ON l.k = r.k AND {NEAR}"

    assert schema(sql, tables) == (
        "id INT, ts TIMESTAMP(3) *event*, rid BIGINT, rts TIMESTAMP(3) *event*"
    )
    assert is_stateful(root(sql, tables))
    assert delay_ms(root(sql, tables)) == 5000


def test_what_remains_of_an_inner_joins_condition_is_a_filter_above_it(tables):
    top = root(query(f"l.k = r.k AND {NEAR} AND CONCAT(l.k, r.k) LIKE 'a%'"), tables)

    assert any(isinstance(node, Filter) for node in walk(top))
    assert join_of(query(f"l.k = r.k AND {NEAR} AND l.d * r.d > 3"), tables).condition is None


def test_an_outer_joins_condition_is_tested_inside_with_one_sided_parts_computed_before(tables):
    on = f"l.k = r.k AND {NEAR} AND (l.v < r.v OR CHAR_LENGTH(l.k) > r.v OR r.d > 1.5)"
    join = join_of(query(on, "LEFT"), tables)

    assert join.condition is not None
    assert [name for name in join.left.edge.names if name.startswith("$")] == ["$conditionl0"]
    assert [name for name in join.right.edge.names if name.startswith("$")] == ["$conditionr0"]


def test_processing_time_is_a_time_too(tables):
    join = join_of(query("l.k = r.k AND r.pt BETWEEN l.pt AND l.pt + INTERVAL '5' SECOND"), tables)

    assert join.processing_time
    assert delay_ms(join) == 0


@pytest.mark.parametrize(
    ("setting", "slack"), [("0 ms", 0), ("10 min", 600_000), ("half-width", 4000)]
)
def test_rows_are_kept_longer_if_an_option_says_so(setting, slack, tables):
    sql = f"SET 'table.exec.interval-join.min-cleanup-interval' = '{setting}';"

    assert join_of(sql + query(f"l.k = r.k AND {NEAR}"), tables).slack_ms == slack


def test_explain_says_what_is_kept_and_until_when(tables):
    text = explain(plan(query(f"l.k = r.k AND {NEAR}", "LEFT"), tables))

    assert "IntervalJoin(left, key=[k = k], bounds=[ts in [ts - 3 s, ts + 5 s]])" in text
    assert (
        "left rows until the watermark has passed ts + 5 s; right rows until it has passed ts + 3 s"
        in text
    )


@pytest.mark.parametrize(
    ("on", "advice"),
    [
        (NEAR, "no equality: all its rows go to one key group"),
        ("l.k = r.k AND l.ts > r.ts AND l.ts < r.ts", "exclude each other, so no rows can match"),
        (
            "l.k = r.k AND r.ts BETWEEN l.ts AND l.ts + INTERVAL '7' DAY",
            "168 hours wide: at one row a second and side the interval join keeps about 604,800",
        ),
    ],
)
def test_joins_that_may_not_be_meant_are_warned_of(on, advice, tables):
    assert any(advice in warning for warning in plan(query(on), tables).warnings)


@pytest.mark.parametrize(
    ("test", "how"),
    [
        (f"EXISTS (SELECT 1 FROM r WHERE r.k = l.k AND {NEAR} AND r.v > 3)", "semi"),
        (f"NOT EXISTS (SELECT * FROM r WHERE r.k = l.k AND {NEAR})", "anti"),
        (f"l.k IN (SELECT r.k FROM r WHERE {NEAR})", "semi"),
    ],
)
def test_subqueries_that_are_near_in_time_are_semi_and_anti_joins(test, how, tables):
    sql = f"SELECT id, ts FROM l WHERE v > 1 AND {test}"
    join = join_of(sql, tables)

    assert (join.how, len(join.left_keys), join.lower_ms) == (how, 1, -3000)
    assert schema(sql, tables) == "id INT, ts TIMESTAMP(3) *event*"


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(("ttl", "warned"), [("4 s", True), ("5 s", False), ("0 ms", False)])
def test_bounds_say_how_long_rows_are_kept_whatever_the_state_retention_is(ttl, warned, tables):
    sql = f"SET 'table.exec.state.ttl' = '{ttl}';" + query(f"l.k = r.k AND {NEAR}")
    found = [w for w in plan(sql, tables).warnings if "does not shorten" in w]

    assert bool(found) == warned
    assert not warned or "keeps rows for 5 s" in found[0]


def test_event_time_is_not_bounded_by_processing_time(tables):
    refused("SELECT l.id FROM l JOIN r ON l.k = r.k AND l.ts <= r.ts AND «l.pt >= r.ts»", at=tables)


def test_bounds_are_on_one_pair_of_times(tables):
    two = "(SELECT l.k, l.ts AS t1, r.ts AS t2 FROM l JOIN r ON l.k = r.k AND l.ts = r.ts) AS x"
    refused(
        f"SELECT x.k FROM {two} JOIN r ON x.k = r.k AND x.t1 <= r.ts AND «x.t2 >= r.ts»",
        at=tables,
    )


def test_a_condition_that_polars_would_test_otherwise_is_refused_for_outer_joins(tables):
    sql = f"SELECT l.id FROM l LEFT JOIN r ON l.k = r.k AND {NEAR} AND «l.k LIKE r.k»"

    refused(sql, NotSupported, at=tables)
