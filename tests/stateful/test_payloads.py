"""How rows are handed from worker to worker: inside packed rows, or in files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from pyspark import TaskContext

from tidemark.runtime.payloads import appended, decode, encode, size_of, unwrapped
from tidemark.spark.stateful.exchange import IN_ROWS, Exchange

MANY = pl.DataFrame(
    {"n": range(100_000), "text": ["same"] * 100_000, "list": [[1, None]] * 100_000}
)
FEW = MANY.head(10)

# A task of a query's micro-batch; of a batch query if it has neither.
Task = Callable[[str | None, int | None], None]


@pytest.fixture
def task(monkeypatch: pytest.MonkeyPatch) -> Task:
    # Whatever context is made becomes that of the process.
    monkeypatch.setattr(TaskContext, "_taskContext", None)

    def begin(query: str | None, batch: int | None) -> None:
        context = TaskContext()
        context._localProperties = (
            {}
            if query is None
            else {"sql.streaming.queryId": query, "streaming.sql.batchId": str(batch)}
        )

    return begin


def test_many_rows_travel_compressed_and_few_as_they_are() -> None:
    assert len(encode(MANY, compressed=True)) < len(encode(MANY)) / 2
    assert encode(FEW, compressed=True) == encode(FEW)
    for compressed in (True, False):
        assert decode(encode(MANY, compressed=compressed)).equals(MANY)
        assert unwrapped(IN_ROWS.wrapped(MANY, compressed=compressed)).equals(MANY)


def test_many_rows_stay_in_a_file_and_few_go_along(tmp_path: Path) -> None:
    payloads = Exchange(str(tmp_path / "here"))

    few, many = payloads.wrapped(FEW), payloads.wrapped(MANY[5:90_000])

    [file] = (tmp_path / "here").rglob("*.arrow")
    assert len(many) < 1000
    assert unwrapped(few).equals(FEW)
    # Whoever is not the last leaves them there, and has them also once they are taken away.
    early = unwrapped(many)
    assert file.exists()
    assert unwrapped(many, last=True).equals(MANY[5:90_000])
    assert not file.exists()
    assert early.equals(MANY[5:90_000])


def test_a_micro_batch_removes_the_files_of_earlier_ones_only(tmp_path: Path, task: Task) -> None:
    payloads = Exchange(str(tmp_path / "here"), more_than=0)
    payloads.forget_earlier_batches()

    left: dict[tuple[str | None, int | None], bytes] = {}
    for name, batch in (("a", 9), ("a", 10), ("b", 3), (None, None)):
        task(name, batch)
        left[name, batch] = payloads.wrapped(FEW)
    task("a", 10)
    payloads.forget_earlier_batches()

    with pytest.raises(FileNotFoundError):
        unwrapped(left.pop(("a", 9)))
    assert all(unwrapped(payload).equals(FEW) for payload in left.values())


def test_a_payload_knows_the_size_of_its_rows_wherever_they_are(tmp_path: Path) -> None:
    size = MANY.estimated_size()
    compressed = IN_ROWS.wrapped(MANY, compressed=True)
    inside = IN_ROWS.wrapped(MANY)
    beside = [appended(payload, tmp_path / "held") for payload in (inside, compressed)]

    assert len(compressed) < size / 2
    for payload in (inside, compressed, *beside):
        assert size_of(payload) == pytest.approx(size, rel=0.5)
        assert unwrapped(payload).equals(MANY)
