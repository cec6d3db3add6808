"""Joins with filters give the rows of a plain nested loop, wherever the filters are tested."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tidemark
from tests.searching import searched

Row = tuple[str | None, int | None]
Value = object
Test = Callable[[Value, Value, Value, Value], bool | None]


def _and(*parts: bool | None) -> bool | None:
    if False in parts:
        return False
    return None if None in parts else True


def _or(*parts: bool | None) -> bool | None:
    if True in parts:
        return True
    return None if None in parts else False


def _not(part: bool | None) -> bool | None:
    return None if part is None else not part


def _less(one: Value, other: Value) -> bool | None:
    if one is None or other is None:
        return None
    assert isinstance(one, int) and isinstance(other, int)
    return one < other


# What SQL says about a pair of rows (k, v) and (j, w), and what that means.
TESTS: dict[str, Test] = {
    "TRUE": lambda k, v, j, w: True,
    "v < 2": lambda k, v, j, w: _less(v, 2),
    "w < 2": lambda k, v, j, w: _less(w, 2),
    "v < w": lambda k, v, j, w: _less(v, w),
    "v < 2 AND w < 2": lambda k, v, j, w: _and(_less(v, 2), _less(w, 2)),
    "v < 2 OR w < 2": lambda k, v, j, w: _or(_less(v, 2), _less(w, 2)),
    "v IS NULL AND 0 < w": lambda k, v, j, w: _and(v is None, _less(0, w)),
    "w IS NULL AND 0 < v": lambda k, v, j, w: _and(w is None, _less(0, v)),
    "j IS NULL": lambda k, v, j, w: j is None,
    "w IS NOT NULL": lambda k, v, j, w: w is not None,
    "NOT (v IS NOT NULL)": lambda k, v, j, w: v is None,
    "w IN (0, 2, 3)": lambda k, v, j, w: None if w is None else w in (0, 2, 3),
    "NOT (2 BETWEEN v AND w)": lambda k, v, j, w: _not(_and(_not(_less(2, v)), _not(_less(w, 2)))),
    "NOT (w BETWEEN v AND 2)": lambda k, v, j, w: _not(_and(_not(_less(w, v)), _not(_less(2, w)))),
    "(v < 2) IS NOT TRUE": lambda k, v, j, w: _less(v, 2) is not True,
}
HOWS = ("INNER", "LEFT", "RIGHT", "FULL")
QUERIES = (
    "SELECT k, v, j, w FROM l {how} JOIN r ON k = j AND ({on}) WHERE {where}",
    "SELECT k, v, j, w FROM (SELECT k, v + 0 AS v, j, w FROM l {how} JOIN r ON k = j AND ({on}))"
    " WHERE {where}",
)


def expected(left: list[Row], right: list[Row], how: str, on: Test, where: Test) -> Counter[object]:
    joined = list(_joined(left, right, how, on))
    return Counter(row for row in joined if where(*row))


def _joined(left: list[Row], right: list[Row], how: str, on: Test) -> Iterator[tuple[Value, ...]]:
    pairs = [
        (a, b)
        for a, b in product(range(len(left)), range(len(right)))
        if left[a][0] is not None and left[a][0] == right[b][0] and on(*left[a], *right[b])
    ]
    yield from ((*left[a], *right[b]) for a, b in pairs)
    if how in ("LEFT", "FULL"):
        met = {a for a, _ in pairs}
        yield from ((*row, None, None) for a, row in enumerate(left) if a not in met)
    if how in ("RIGHT", "FULL"):
        met = {b for _, b in pairs}
        yield from ((None, None, *row) for b, row in enumerate(right) if b not in met)


rows = st.lists(
    st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([0, 1, 2, 3, None])), max_size=5
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("filters")


@given(
    left=rows,
    right=rows,
    how=st.sampled_from(HOWS),
    on=st.sampled_from([*TESTS]),
    where=st.sampled_from([*TESTS]),
    mode=st.sampled_from(["batch", "streaming"]),
    query=st.sampled_from(QUERIES),
)
@searched(40)
def test_rows_are_those_of_a_nested_loop(
    folder: Path,
    left: list[Row],
    right: list[Row],
    how: str,
    on: str,
    where: str,
    mode: str,
    query: str,
) -> None:
    session = tidemark.connect(engine="local", options={"execution.runtime-mode": mode})
    for name, columns, given_rows in (
        ("l", "k STRING, v INT", left),
        ("r", "j STRING, w INT", right),
    ):
        path = folder / f"{name}.csv"
        path.write_text("".join(map(_as_csv, given_rows)))
        session.sql(
            f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', 'path' = '{path}',"
            " 'format' = 'csv', 'csv.null-literal' = 'none')"
        )
    result = session.sql(query.format(how=how, on=on, where=where))

    assert Counter(tuple(row.values()) for row in result.rows()) == expected(
        left, right, how, TESTS[on], TESTS[where]
    )


def _as_csv(row: Row) -> str:
    return ",".join("none" if value is None else str(value) for value in row) + "\n"
