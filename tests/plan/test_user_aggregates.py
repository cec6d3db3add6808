"""User-defined aggregate functions: where they are allowed, and how they are called."""

from __future__ import annotations

import pytest

from tests.plan import functions
from tests.plan.marked import refused, root, schema, world
from tidemark.catalog.user_functions import declare
from tidemark.errors import CatalogError
from tidemark.plan.nodes import GroupAggregate, WindowAggregate, walk

HOME = "tests.plan.functions"
DDL = f"""
CREATE FUNCTION spread AS '{HOME}.Spread' LANGUAGE PYTHON;
CREATE FUNCTION weighted AS '{HOME}.Weighted' LANGUAGE PYTHON;
CREATE TEMPORARY SYSTEM FUNCTION total AS '{HOME}.total' LANGUAGE PYTHON;
CREATE FUNCTION half AS '{HOME}.HalfAnAggregate' LANGUAGE PYTHON;
"""
TUMBLE = "TUMBLE(ts, INTERVAL '10' SECOND)"
WINDOWS = "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND))"


@pytest.fixture
def tables():
    return world(DDL)


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("SELECT b, SPREAD(a) FROM t GROUP BY b", GroupAggregate),
        ("SELECT spread(a) FROM t", GroupAggregate),
        (f"SELECT spread(a) FROM t GROUP BY {TUMBLE}", WindowAggregate),
        (f"SELECT spread(a) FROM {WINDOWS} GROUP BY window_start, window_end", WindowAggregate),
        (f"SELECT b FROM t GROUP BY b, {TUMBLE} HAVING total(a) > 3", WindowAggregate),
    ],
)
def test_it_is_allowed_wherever_a_built_in_one_is(sql, kind, tables):
    [aggregated] = [
        n for n in walk(root(sql, tables)) if isinstance(n, GroupAggregate | WindowAggregate)
    ]
    assert isinstance(aggregated, kind)
    assert [call.user is not None for call in aggregated.calls] == [True]


def test_it_takes_filter_and_distinct(tables):
    sql = "SELECT spread(DISTINCT a) FILTER (WHERE c > 1) AS s FROM t GROUP BY b"
    [aggregated] = [n for n in walk(root(sql, tables)) if isinstance(n, GroupAggregate)]
    [call] = aggregated.calls
    assert call.distinct and call.filter is not None


def test_it_may_take_no_argument(tables):
    class Rows(functions.Spread):
        def accumulate(self, accumulator: list[int]) -> None:
            accumulator.append(1)

    tables.declare_function(declare("how_many", Rows))
    for call in ("how_many()", "how_many(*)"):
        assert schema(f"SELECT {call} AS n FROM t GROUP BY b", tables) == "n BIGINT"


@pytest.mark.parametrize("call", ["total(n)", "spread(DISTINCT n)", "mean(n)"])
def test_it_accepts_changelogs_if_it_can_retract(call, tables):
    class Mean(functions.Spread):
        def retract(self, accumulator: list[int], value: int) -> None:
            accumulator.remove(value)

    tables.declare_function(declare("mean", Mean))
    counts = "(SELECT COUNT(*) AS n FROM t GROUP BY b)"
    assert schema(f"SELECT {call} AS r FROM {counts}", tables) == "r BIGINT"


def test_it_is_called_by_its_full_name(tables):
    tables.plan_script(f"CREATE DATABASE d; CREATE FUNCTION d.f AS '{HOME}.Spread' LANGUAGE PYTHON")
    assert schema("SELECT d.f(a) AS s FROM t GROUP BY b", tables) == "s BIGINT"


@pytest.mark.parametrize(
    ("call", "type_"),
    [("spread(a)", "BIGINT"), ("weighted(a)", "DOUBLE"), ("weighted(a, c)", "DOUBLE")],
)
def test_result_has_the_declared_type_and_may_be_null(call, type_, tables):
    assert schema(f"SELECT {call} AS r FROM t GROUP BY b", tables) == f"r {type_}"


@pytest.mark.parametrize(
    ("marked", "says"),
    [
        ("SELECT «spread(a, c)» FROM t", "takes 1 arguments, not 2"),
        ("SELECT «spread()» FROM t", "takes 1 arguments, not 0"),
        ("SELECT «total()» FROM t", "requires an argument"),
        ("SELECT «spread(n)» FROM (SELECT COUNT(*) AS n FROM t GROUP BY b)", "has no `retract`"),
        ("SELECT «weighted(a, c, a)» FROM t", "does not accept 3 arguments"),
        ("SELECT «total(a, c)» FROM t", "does not accept 2 arguments"),
        ("SELECT spread(«b») FROM t", "requires BIGINT here, not STRING"),
        ("SELECT a FROM t WHERE «spread(a)» > 1", "is not allowed here"),
        ("SELECT spread(«total(a)») FROM t", "is not allowed here"),
        ("SELECT a FROM t GROUP BY «spread(a)»", "not allowed in GROUP BY"),
        ("SELECT «a» + spread(a) FROM t", "must be in GROUP BY or in an aggregate function"),
    ],
)
def test_mistakes_are_shown_at_their_place(marked, says, tables):
    assert says in refused(marked, at=tables).message


def test_class_without_all_parts_is_refused_by_name(tables):
    error = refused("SELECT «half(a)» FROM t", CatalogError, at=tables)
    assert error.message.endswith("`half` is missing create_accumulator and get_value")


def test_class_with_constructor_arguments_must_be_given_as_an_object():
    class Least(functions.Spread):
        def __init__(self, least: int) -> None:
            self.least = least

    with pytest.raises(CatalogError) as refusal:
        declare("least", Least)
    assert refusal.value.hint == "pass an object instead of the class"
    assert declare("least", Least(3)).aggregate


def test_built_in_aggregates_cannot_be_hidden(tables):
    refused(f"CREATE FUNCTION «`sum`» AS '{HOME}.Spread' LANGUAGE PYTHON", CatalogError, at=tables)
    with pytest.raises(CatalogError, match="built-in"):
        tables.declare_function(declare("Sum", functions.Spread))
