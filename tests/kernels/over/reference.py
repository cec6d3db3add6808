"""OVER one row at a time: what a frame contains, and what a function makes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tidemark.kernels.over.spec import OverCall, OverFrame


class Row(NamedTuple):
    """A row of a partition; `by` is its place in the order."""

    key: str | None
    by: int | None
    value: int | None
    text: str | None
    id: int


def result(call: OverCall, rows: Sequence[Row], place: int) -> Any:
    """The result for the row at a place of a partition in order."""
    if call.function in ("LAG", "LEAD"):
        other = place + (call.distance if call.function == "LEAD" else -call.distance)
        if 0 <= other < len(rows):
            return rows[other].value
        return rows[place].id if len(call.call.arguments) == 2 else None
    peers = [i for i, row in enumerate(rows) if row.by == rows[place].by]
    match call.function:
        case "ROW_NUMBER":
            return place + 1
        case "RANK":
            return peers[0] + 1
        case "DENSE_RANK":
            return len({row.by for row in rows[:place]} | {rows[place].by})
        case "PERCENT_RANK":
            return peers[0] / max(len(rows) - 1, 1)
        case "CUME_DIST":
            return (peers[-1] + 1) / len(rows)
        case "NTILE":
            return _group_numbers(len(rows), call.distance)[place]
    inside = [row for i, row in enumerate(rows) if _is_in(call.frame, rows, place, i)]
    return _AGGREGATES[call.function](inside, call.call.distinct)


def _group_numbers(size: int, groups: int) -> list[int]:
    counts = [size // groups + (group < size % groups) for group in range(groups)]
    return [group + 1 for group, count in enumerate(counts) for _ in range(count)]


def _is_in(frame: OverFrame, rows: Sequence[Row], place: int, other: int) -> bool:
    mine, theirs = rows[place].by, rows[other].by
    for bound, sign in ((frame.start, 1), (frame.end, -1)):
        if bound is None:
            continue
        if frame.by_rows:
            distance: float = other - place - bound
        elif mine is None or theirs is None:
            # NULLs are peers, at no distance from other values; they come first.
            distance = 0 if mine is theirs else (1 if mine is None else -1)
        else:
            distance = theirs - mine - bound
        if distance * sign < 0:
            return False
    return True


def _values(rows: Sequence[Row], distinct: bool) -> list[int]:
    values = [row.value for row in rows if row.value is not None]
    return list(dict.fromkeys(values)) if distinct else values


def _of_values(function: Callable[[list[int]], Any]) -> Callable[[Sequence[Row], bool], Any]:
    def result(rows: Sequence[Row], distinct: bool) -> Any:
        values = _values(rows, distinct)
        return function(values) if values else None

    return result


_AGGREGATES: dict[str, Callable[[Sequence[Row], bool], Any]] = {
    "COUNT": lambda rows, distinct: len(_values(rows, distinct)),
    "SUM": _of_values(sum),
    "MIN": _of_values(min),
    "MAX": _of_values(max),
    "AVG": _of_values(lambda values: sum(values) / len(values)),
    "FIRST_VALUE": _of_values(lambda values: values[0]),
    "LAST_VALUE": _of_values(lambda values: values[-1]),
    "LISTAGG": lambda rows, _: ",".join(row.text for row in rows if row.text is not None) or None,
}
