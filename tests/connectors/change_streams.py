"""A stream of changes as Spark runs it, micro-batch by micro-batch, but without Spark."""

from __future__ import annotations

import json
import uuid
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import strategies as st

from tests.connectors import tables
from tidemark.catalog.tables import Table
from tidemark.connectors import registry
from tidemark.connectors.base import ColumnsRequest, Part
from tidemark.connectors.planned_stream import Planning
from tidemark.dialect.statements import MetadataColumn
from tidemark.errors import PlanError, SetupError
from tidemark.kernels.columns import KIND


def with_clause(chosen: dict[str, str], **more: str) -> str:
    """Options, of which some are named with `__` for `.` and `_` for `-`."""
    spelled = {key.replace("__", ".").replace("_", "-"): value for key, value in more.items()}
    quoted = {key: value.replace("'", "''") for key, value in {**chosen, **spelled}.items()}
    return "WITH (" + ", ".join(f"'{k}' = '{v}'" for k, v in quoted.items()) + ")"


@dataclass
class ChangeStream(ABC):
    """Runs micro-batches. `log` is Spark's checkpoint: the offsets where they end."""

    server: Any
    table: Table
    folder: Path
    log: list[dict[str, Any]] = field(default_factory=list)
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    skipped: int = 0
    run: str = field(default_factory=lambda: uuid.uuid4().hex[:8])
    planning: Planning | None = None

    @abstractmethod
    def planned_by(self, request: ColumnsRequest) -> Planning: ...

    @abstractmethod
    def opened(self, request: ColumnsRequest) -> Callable[[Part], Iterator[pl.DataFrame]]: ...

    @abstractmethod
    def end(self) -> None:
        """Let go of what the planning has."""

    def settle(self) -> None:  # noqa: B027
        """Wait until all that was committed is in the log."""

    def __enter__(self) -> Any:
        self.begin()
        return self

    def __exit__(self, *_: object) -> None:
        if self.planning is not None:
            self.end()

    def begin(self) -> None:
        """Start, or go on from where the last one has ended."""
        asked = tables.columns_request(self.table, **self._metadata)
        self.request = replace(asked, count=self._count)
        self.planning = self.planned_by(self.request)
        if not self.log:
            self.log.append(_json(self.planning.initial()))

    @property
    def _metadata(self) -> dict[str, Any]:
        keys = [c.key or c.name for c in self.table.columns if isinstance(c, MetadataColumn)]
        return {"metadata": tuple(keys)}

    def _count(self, rows: int, skipped: int) -> None:
        self.skipped += skipped

    def restart(self) -> None:
        self.end()
        self.begin()

    def restart_and_read(self) -> list[tuple[Any, ...]]:
        """What the last micro-batch reads if it was not committed when the job ended."""
        self.restart()
        return self.read()

    def planned(self) -> bool:
        """Write into the log where the next micro-batch ends; whether there is one."""
        assert self.planning is not None
        end = _json(self.planning.latest(self.log[-1]))
        if end == self.log[-1]:
            return False
        self.log.append(end)
        return True

    def read(self) -> list[tuple[Any, ...]]:
        """The rows of the last micro-batch that was planned: row kind first."""
        assert self.planning is not None
        start, end = self.log[-2:]
        parts = self.planning.parts(start, end)
        return [row for part in parts for row in self._rows(part)]

    def _rows(self, part: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        file, first, last, details = part
        for frame in self.opened(self.request)(Part(file, first, last, details=details)):
            kinds = frame[KIND].to_list() if KIND in frame.columns else ["+I"] * frame.height
            yield from ((k, *row) for k, row in zip(kinds, _values(frame), strict=True))

    def step(self) -> list[tuple[Any, ...]]:
        """All rows that there are now, by as many micro-batches as it takes."""
        self.settle()
        came = []
        while self.planned():
            came += self.read()
            assert self.planning is not None
            self.planning.commit(self.log[-1])
        self.rows += came
        return came


def _values(frame: pl.DataFrame) -> list[tuple[Any, ...]]:
    return frame.drop(KIND, strict=False).rows()


def _json(offset: dict[str, Any]) -> dict[str, Any]:
    return dict(json.loads(json.dumps(offset)))


def table_of(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The table that a changelog results in: each row as often as it is in it. No row is taken back
    that did not come before."""
    counted: Counter[tuple[Any, ...]] = Counter()
    for kind, *row in rows:
        counted[tuple(row)] += 1 if kind in ("+I", "+U") else -1
        assert counted[tuple(row)] >= 0, rows
    return sorted(counted.elements())


def check_types(
    found: list[tuple[Any, ...]], expected: list[tuple[Any, ...]], columns: Iterable[str]
) -> None:
    """That inserts have the values, and of these types."""
    assert [kind for kind, *_ in found] == ["+I"] * len(expected)
    for (_, *got), wanted in zip(found, expected, strict=True):
        differing = {
            column: pair
            for column, *pair in zip(columns, got, wanted, strict=True)
            if repr(pair[0]) != repr(pair[1])
        }
        assert differing == {}


# --- options -----------------------------------------------------------------------------------


def check_password_is_hidden(
    password: str,
    declared: Table,
    wrong: Table,
    captured: Callable[[ColumnsRequest], Any],
    look_at: Callable[[ColumnsRequest], Any],
) -> None:
    """No one sees a password, nor the wrong one of a table that has it."""
    assert password not in str(registry.shown_options(declared))
    seen = repr(captured(tables.columns_request(declared)))
    assert password not in seen and "orders" in seen
    with pytest.raises(SetupError) as caught:
        look_at(tables.columns_request(wrong))
    assert "cannot connect" in str(caught.value) and "wrong one" not in str(caught.value)


def check_not_read_in_batches(declared: Table) -> None:
    parts = registry.lookup(declared).parts
    assert parts is not None
    with pytest.raises(PlanError, match="is unbounded") as caught:
        parts(tables.columns_request(declared))
    assert "'scan.startup.mode' = 'snapshot'" in (caught.value.hint or "")


# --- random changes ----------------------------------------------------------------------------

Step = tuple[str, list[str]]


def steps(statements: st.SearchStrategy[str]) -> st.SearchStrategy[list[Step]]:
    """What happens, one after the other: transactions of statements, micro-batches, restarts."""
    return st.lists(
        st.one_of(
            st.tuples(st.just("commit"), st.lists(statements, min_size=1, max_size=4)),
            st.tuples(st.just("roll back"), st.lists(statements, min_size=1, max_size=2)),
            st.tuples(st.sampled_from(["step", "restart", "crash"]), st.just([])),
        ),
        max_size=8,
    )


def follow(stream: ChangeStream, what: str, work: list[str]) -> list[str]:
    """Do what a step says to a stream; returns what is to be done by the database."""
    if what in ("commit", "roll back"):
        return ["BEGIN", *work, "COMMIT" if what == "commit" else "ROLLBACK"]
    if what == "step":
        stream.step()
    elif what == "restart":
        stream.restart()
    elif stream.planned():
        stream.read()  # and then it crashes: the micro-batch comes again
        stream.rows += stream.restart_and_read()
    return []
