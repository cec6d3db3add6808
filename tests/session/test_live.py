"""Tables that follow a query: what they hold, and how they look."""

from __future__ import annotations

import queue
import sys
import types
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from tests.waiting import PATIENCE_SECONDS
from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.errors import JobError, TidemarkError
from tidemark.plan.nodes import Column, Edge
from tidemark.session.live import LiveTable
from tidemark.session.workspace import Workspace
from tidemark.spark.frame import KIND

COLUMNS = (Column("shop", t.STRING), Column("n", t.BigInt()))


class FakeQuery:
    """A query whose changes are given by hand: each batch "+I tea 1, -U tea 1"."""

    def __init__(self) -> None:
        self.batches: queue.Queue[Any] = queue.Queue()
        self.job = types.SimpleNamespace(state="running")

    def __iter__(self) -> Iterator[pa.Table]:
        while (batch := self.batches.get()) is not None:
            if isinstance(batch, Exception):
                self.job.state = "failed"
                raise batch
            yield batch
        self.job.state = "stopped"

    def close(self) -> None:
        self.batches.put(None)

    def send(self, text: str, *, kinds: bool = True) -> None:
        changes = [change.split() for change in text.split(", ")]
        columns: dict[str, Any] = {
            "shop": [change[1] for change in changes],
            "n": pa.array([int(change[2]) for change in changes], pa.int64()),
        }
        if kinds:
            columns[KIND] = [change[0] for change in changes]
        self.batches.put(pa.table(columns))


@pytest.fixture
def query() -> Iterator[FakeQuery]:
    made = FakeQuery()
    yield made
    made.close()


def live(query: FakeQuery, changelog: Changelog = Changelog.RETRACT, keep: int = 100) -> LiveTable:
    keys = (("shop",),) if changelog is Changelog.UPSERT else ()
    return LiveTable(Edge(COLUMNS, changelog, keys, False), lambda: query, keep)  # type: ignore[arg-type,return-value]


def after(table: LiveTable, changes: int) -> list[str]:
    """The rows when so many changes have come."""
    next(seen for seen in table._versions() if seen >= changes)
    return [f"{row['shop']} {row['n']}" for row in table.rows()]


def test_rows_are_added_and_retracted_while_the_query_runs(query: FakeQuery):
    table = live(query)

    query.send("+I tea 1, +I milk 1")
    assert after(table, 2) == ["tea 1", "milk 1"]
    query.send("-U tea 1, +U tea 2")
    assert after(table, 4) == ["milk 1", "tea 2"]
    query.send("-D milk 1")
    assert after(table, 5) == ["tea 2"]
    assert table.state == "running"


def test_one_of_two_equal_rows_can_go(query: FakeQuery):
    table = live(query)
    query.send("+I tea 1, +I tea 1")
    query.send("-D tea 1")

    assert after(table, 3) == ["tea 1"]


def test_rows_with_a_key_are_replaced_by_it(query: FakeQuery):
    table = live(query, Changelog.UPSERT)
    query.send("+I tea 1, +I milk 1")
    query.send("+U tea 5, -D milk 1")

    assert after(table, 4) == ["tea 5"]


def test_of_rows_that_never_change_the_newest_are_kept(query: FakeQuery):
    table = live(query, Changelog.APPEND, keep=2)
    query.send("+I tea 1, +I tea 2", kinds=False)
    query.send("+I tea 3", kinds=False)

    assert after(table, 3) == ["tea 2", "tea 3"]


def test_before_the_first_change_there_are_columns_without_rows(query: FakeQuery):
    table = live(query)

    assert table.rows() == []
    assert table.to_polars().columns == ["shop", "n"]
    assert table.to_pandas().shape == (0, 2)


def test_stopping_leaves_the_rows_as_they_are(query: FakeQuery):
    with live(query) as table:
        query.send("+I tea 1")
        after(table, 1)

    assert table.state == "stopped"
    assert table.rows() == [{"shop": "tea", "n": 1}]
    assert table.wait(timeout=PATIENCE_SECONDS)


def test_iterating_returns_all_rows_at_each_change_until_the_end(query: FakeQuery):
    query.send("+I tea 1")
    table = live(query)
    seen = iter(table)
    while not (rows := next(seen)):
        pass
    query.close()

    assert rows == [{"shop": "tea", "n": 1}]
    assert list(seen) in ([], [rows])


def test_a_query_that_fails_raises_for_those_who_wait_and_those_who_read(query: FakeQuery):
    table = live(query)
    query.send("+I tea 1")
    query.batches.put(JobError("the disk is <full>"))

    with pytest.raises(JobError, match="full"):
        table.wait()
    assert table.rows() == [{"shop": "tea", "n": 1}]
    assert "failed" in repr(table)
    assert "the disk is &lt;full&gt;" in table._repr_html_()


def test_html_shows_the_rows_and_escapes_all_values(query: FakeQuery):
    table = live(query)
    query.send("+I <b>tea</b> 1")
    after(table, 1)

    html = table._repr_html_()
    assert "<td>&lt;b&gt;tea&lt;/b&gt;</td><td>1</td>" in html
    assert "running · 1 row · 1 change" in html


def test_a_notebook_sees_the_table_change(query: FakeQuery, monkeypatch: pytest.MonkeyPatch):
    drawn: list[str] = []
    handle = types.SimpleNamespace(update=lambda view: drawn.append(view._repr_html_()))
    notebook = types.ModuleType("IPython.display")
    notebook.display = lambda view, display_id: handle  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", notebook)
    table = live(query)

    table._ipython_display_()
    query.send("+I tea 1")
    after(table, 1)
    table.stop()

    assert "tea" not in drawn[0]
    assert "<td>tea</td>" in drawn[-1]
    assert "stopped" in drawn[-1]


def test_a_terminal_shows_the_rows_until_the_query_has_ended(
    query: FakeQuery, capsys: pytest.CaptureFixture[str]
):
    query.send("+I tea 1, +I milk 20")
    table = live(query)
    after(table, 2)
    query.close()
    table.show()

    shown = capsys.readouterr().out
    assert "milk" in shown
    assert "2 rows · 2 changes" in shown


def test_only_queries_can_be_followed():
    from tidemark.session.result import Result

    [planned] = Workspace().plan_script("SET 'table.dml-sync' = 'true'")
    with pytest.raises(TidemarkError, match="does not return rows"):
        Result(planned.statement).live()
