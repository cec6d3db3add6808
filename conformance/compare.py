"""Compares changelogs with recorded ones, as `append`, `materialized` or `changelog`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from conformance.case import Case, Change, Row
from conformance.values import normal_row, same

OPS = ("+I", "-U", "+U", "-D")


def differences(case: Case, changes: Sequence[Change]) -> list[str]:
    """How an engine's changes differ from the recorded ones, in words; empty if they do not."""
    schema = case.schema
    for op, row in changes:
        if op not in OPS:
            return [f"unknown op {op!r}"]
        if schema and set(row) != set(schema):
            return [f"columns are {sorted(row)}, expected {sorted(schema)}"]
    got = [(op, normal_row(row, schema)) for op, row in changes]
    expected = case.expected or []
    if case.compare == "changelog":
        want = [(change["op"], normal_row(change["row"], schema)) for change in expected]
        return list(_changelog_differences(want, got, case.key))
    return _row_differences(case, [normal_row(row, schema) for row in expected], got)


def materialize(
    changes: Sequence[Change], key: Sequence[str] | None = None
) -> tuple[list[Row], list[str]]:
    """The rows that a changelog results in, and what is wrong with it. With `key`, a +U replaces
    the row with its key, so that it is applied even if its -U was not sent.
    """
    rows: list[Row] = []
    problems: list[str] = []
    for op, row in changes:
        if op in ("+I", "+U"):
            if key and op == "+U":
                rows = [r for r in rows if not all(same(r.get(k), row.get(k)) for k in key)]
            rows.append(row)
        elif not _take(rows, row):
            problems.append(f"{op} of a row that is not there: {as_json(row)}")
    return rows, problems


def as_json(value: Any) -> str:
    return json.dumps(value, default=str, ensure_ascii=False)


def sort_text(value: Any) -> str:
    """A string that is the same for equal values, to sort and group by."""
    return json.dumps(value, default=str, sort_keys=True, ensure_ascii=False)


def _row_differences(case: Case, want: list[Row], got: list[Change]) -> list[str]:
    found = []
    updates = sum(op != "+I" for op, _ in got)
    if case.compare == "append" and updates:
        found.append(f"not append-only: {updates} of {len(got)} changes are not +I")
    rows, problems = materialize(got, case.key if case.compare == "materialized" else None)
    missing = [row for row in want if not _take(rows, row)]
    found += problems[:3]
    found += [f"missing: {as_json(row)}" for row in missing]
    found += [f"extra:   {as_json(row)}" for row in rows]
    return found


def _changelog_differences(
    want: list[Change], got: list[Change], key: Sequence[str] | None
) -> Iterator[str]:
    """Per key, the first step at which the two changelogs differ."""
    wanted, given = _by_key(want, key), _by_key(got, key)
    for group in [*wanted, *(g for g in given if g not in wanted)]:
        steps = zip_longest(wanted.get(group, []), given.get(group, []))
        for number, (a, b) in enumerate(steps):
            if a is None or b is None or a[0] != b[0] or not same(a[1], b[1]):
                yield f"changelog of key {group or '(all)'}:"
                yield f"  step {number}: want {_describe(a)}"
                yield f"          got  {_describe(b)}"
                break


def _describe(change: Change | None) -> str:
    return "(nothing)" if change is None else f"{change[0]} {as_json(change[1])}"


def _by_key(changes: list[Change], key: Sequence[str] | None) -> dict[str, list[Change]]:
    groups: dict[str, list[Change]] = {}
    for op, row in changes:
        group = sort_text([row.get(column) for column in key]) if key else ""
        groups.setdefault(group, []).append((op, row))
    return groups


def _take(rows: list[Row], row: Row) -> bool:
    """Remove the newest row equal to the given one; False if there is none."""
    for position in range(len(rows) - 1, -1, -1):
        if same(rows[position], row):
            del rows[position]
            return True
    return False
