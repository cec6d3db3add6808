"""Whether the comparison accepts every recorded result, and rejects a damaged one."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.case import Case, Change
from conformance.compare import differences


def problems(case: Case) -> Iterator[str]:
    """What the comparison gets wrong about a recorded case."""
    good = recorded_changes(case)
    if found := differences(case, good):
        yield f"rejects its own result: {found[0]}"
    if not good:
        if not differences(case, [("+I", dict.fromkeys(case.schema))]):
            yield "accepts a row in an empty result"
        return
    if not differences(case, good[1:]):
        yield "accepts a missing row"
    if not differences(case, [*good, good[-1]]):
        yield "accepts an extra row"
    yield from _damaged_values(case, good)
    yield from _taken_back(case, good)


def recorded_changes(case: Case) -> list[Change]:
    """Changes that an engine could print for the recorded result."""
    expected = case.expected or []
    if case.compare == "changelog":
        return [(change["op"], dict(change["row"])) for change in expected]
    return [("+I", dict(row)) for row in expected]


def _damaged_values(case: Case, good: list[Change]) -> Iterator[str]:
    op, row = good[0]
    for column, value in row.items():
        other = "x" if value is None else None
        if not differences(case, [(op, row | {column: other}), *good[1:]]):
            yield f"accepts {other!r} for {value!r} in {column}"


def _taken_back(case: Case, good: list[Change]) -> Iterator[str]:
    _, row = good[0]
    found = differences(case, [*good, ("+I", row), ("-D", row)])
    if case.compare == "append" and not found:
        yield "accepts a retraction in an append-only result"
    if case.compare == "materialized" and found:
        yield "rejects an insert that is taken back"
