"""The Python API of windows: the same plans as the SQL, and rows from real Spark."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import pytest

import tidemark
from tests.plan.marked import world
from tidemark.dialect import parse_script
from tidemark.errors import PlanError
from tidemark.kernels.windows.spec import (
    Assigner,
    CountSliding,
    Cumulating,
    Emit,
    Firing,
    Session,
    Sliding,
)
from tidemark.plan.nodes import Node, WindowAggregate, walk
from tidemark.session.windowed import WindowedTable
from tidemark.windows import Cumulate, Hop, Rows, Tumble, Window
from tidemark.windows import Session as SessionWindow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def planned(window: Window, *keys: str, select: tuple[str, ...] = ("COUNT(*) AS n",)) -> Node:
    """The plan of windows over table `t`, without running it."""
    at = world()
    [query] = parse_script("SELECT * FROM t").statements
    roots: list[Node] = []

    def run(statement, source, rules):
        plan = at.plan_windows(statement, source, rules).plan
        assert plan is not None
        roots.extend(plan.roots)

    WindowedTable(query.query, run, window).group_by(*keys).select(*select)
    [root] = roots
    return root


def aggregate(window: Window, *keys: str) -> WindowAggregate:
    [found] = [part for part in walk(planned(window, *keys)) if isinstance(part, WindowAggregate)]
    return found


@pytest.mark.parametrize(
    ("window", "assigner"),
    [
        (Tumble("10 minutes", on="ts"), Sliding(600_000, 600_000)),
        (Tumble("10 s", on="ts", offset="-3 s"), Sliding(10_000, 10_000, -3_000)),
        (Hop("1 hour", "10 min", on="ts"), Sliding(3_600_000, 600_000)),
        (Cumulate("1 day", "1 hour", on="ts"), Cumulating(86_400_000, 3_600_000)),
        (SessionWindow("30 s", on="ts"), Session(30_000)),
        (Tumble.rows(100), CountSliding(100, 100)),
        (Hop.rows(100, slide=10), CountSliding(100, 10)),
    ],
)
def test_windows_are_those_of_the_sql(window: Window, assigner: Assigner):
    node = aggregate(window, "b")

    assert (node.assigner, len(node.keys), node.given) == (assigner, 1, None)


def test_results_may_be_emitted_early_and_late():
    window = Tumble("1 minute", on="ts").early_fire("5 s").late_fire().allowed_lateness("1 day")
    node = aggregate(window)

    assert node.emit == Emit(Firing(every_ms=5_000), Firing(each_row=True))
    assert node.lateness_ms == 86_400_000


def test_allowed_lateness_alone_fires_for_each_late_row():
    assert aggregate(Tumble("1 minute", on="ts").allowed_lateness("1 h")).emit == Emit(
        late=Firing(each_row=True)
    )


def test_processing_time_is_a_time_too():
    assert aggregate(Tumble("1 minute", on="pt"), "b").processing_time


@pytest.mark.parametrize(
    "make",
    [
        lambda: planned(Tumble("1 minute", on="ts").late_fire()),
        lambda: planned(SessionWindow("1 minute", on="ts").early_fire(), "b"),
        lambda: planned(Tumble.rows(10).early_fire(), "b"),
        lambda: planned(Tumble("soon", on="ts")),
        lambda: planned(Tumble("1 minute", on="nope")),
        lambda: planned(Tumble("1 minute", on="ts"), select=()),
        lambda: planned(Tumble("1 minute", on="ts"), "b", select=("a",)),
        lambda: Rows(0, 1),
    ],
)
def test_invalid_sql_is_refused(make):
    with pytest.raises(PlanError):
        make()


# --- on Spark ----------------------------------------------------------------------------------


@pytest.fixture
def sales(spark: SparkSession) -> DataFrame:
    rows = [("x", 5, 1), ("y", 7, 4), ("x", 2, 9), ("x", 1, 12), ("y", 4, 25)]
    made = [(shop, amount, datetime(2024, 5, 6, 10, 0, second)) for shop, amount, second in rows]
    return spark.createDataFrame(made, "shop STRING, amount INT, ts TIMESTAMP_NTZ").coalesce(1)


def test_a_table_is_grouped_in_windows(spark: SparkSession, sales: DataFrame):
    session = tidemark.connect(spark)
    session.register("sales", sales, watermark="ts")
    result = (
        session.table("sales")
        .window(Tumble("10 seconds", on="ts"))
        .group_by("shop")
        .select("shop", "window_start AS since", "COUNT(*) AS n", "SUM(amount) AS total")
    )

    assert [c.name for c in result.columns] == ["shop", "since", "n", "total"]
    assert sorted((r["shop"], r["since"].second, r["n"], r["total"]) for r in result.rows()) == [
        ("x", 0, 2, 7),
        ("x", 10, 1, 1),
        ("y", 0, 1, 7),
        ("y", 20, 1, 4),
    ]


def test_row_count_windows_are_emitted_when_they_are_full(spark: SparkSession, sales: DataFrame):
    session = tidemark.connect(spark)
    session.register("sales", sales)
    table = session.table("sales")
    pairs = table.window(Tumble.rows(2)).group_by("shop").select("shop", "SUM(amount) AS s")
    last_two = table.window(Hop.rows(2, slide=1)).select("SUM(amount) AS s")

    assert sorted((r["shop"], r["s"]) for r in pairs.rows()) == [("x", 7), ("y", 11)]
    assert [r["s"] for r in last_two.rows()] == [12, 9, 3, 5]


def test_dataframes_are_aggregated_in_windows(sales: DataFrame):
    result = tidemark.window_aggregate(
        sales,
        SessionWindow("6 seconds", on="ts"),
        group_by="shop",
        select=["shop", "window_end", "MAX(amount) AS most"],
        watermark="5 seconds",
    )

    rows = sorted((r["shop"], r["window_end"].second, r["most"]) for r in result.collect())
    assert rows == [("x", 7, 5), ("x", 18, 2), ("y", 10, 7), ("y", 31, 4)]
