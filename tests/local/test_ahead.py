"""Blocks of files that threads decode while earlier ones are used."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.waiting import wait_until
from tidemark import types as t
from tidemark.connectors.base import Part
from tidemark.connectors.filesystem import files_columns
from tidemark.connectors.filesystem.files_columns import reading
from tidemark.connectors.formats.base import FormatField
from tidemark.errors import DataError
from tidemark.runtime.ahead import ahead


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("ahead")]


@pytest.mark.parametrize("number", [1, 2, 4])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 50])
def test_results_come_in_order(number: int, count: int) -> None:
    found = [(value, result()) for value, result in ahead(lambda x: x * x, range(count), number)]

    assert found == [(value, value * value) for value in range(count)]


def test_a_failure_comes_where_its_value_is() -> None:
    def compute(value: int) -> float:
        return 1 / (value - 3)

    results = ahead(compute, range(10), 4)
    assert [next(results)[1]() for _ in range(3)] == [-1 / 3, -1 / 2, -1.0]
    with pytest.raises(ZeroDivisionError):
        next(results)[1]()


def test_no_more_values_are_taken_than_threads_compute() -> None:
    taken: list[int] = []

    def values() -> Iterator[int]:
        for value in range(100):
            taken.append(value)
            yield value

    for value, _ in ahead(lambda x: x, values(), 4):
        assert len(taken) <= value + 4


def test_threads_end_with_whoever_uses_their_results() -> None:
    results = ahead(lambda x: x, range(100), 4)
    next(results)
    assert threads()
    results.close()

    wait_until(lambda: not threads(), 10)


@pytest.mark.parametrize("bad", [None, 0, 3, 1500, 2999])
def test_files_are_decoded_alike_by_any_number_of_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: int | None
) -> None:
    monkeypatch.setattr(files_columns, "BLOCK", 2_000)
    lines = [json.dumps({"id": number, "v": f"value {number}"}) for number in range(3_000)]
    if bad is not None:
        lines[bad] = '{"id": "seven"}'
    file = tmp_path / "t.json"
    file.write_text("\n".join(lines))

    def read(number: int) -> tuple[list[tuple[object, ...]], str | None]:
        fields = (FormatField("id", "id", t.Int()), FormatField("v", "v", t.VarChar()))
        names = frozenset(field.name for field in fields)
        read_file = reading("json", fields, {}, read=names, threads=number)
        rows: list[tuple[object, ...]] = []
        try:
            for frame, _ in read_file(Part(str(file))):
                rows += frame.rows()
        except DataError as error:
            return rows, str(error)
        return rows, None

    alone = read(1)
    assert read(4) == alone
    if bad is None:
        assert alone == ([(n, f"value {n}") for n in range(3_000)], None)
    else:
        assert f"{file}:{bad + 1}" in str(alone[1])
