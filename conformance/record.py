"""Records Flink's answer if it is the same in whatever order the records arrive."""

from __future__ import annotations

import re
from typing import Any

from conformance.case import Case
from conformance.case_file import write_case
from conformance.compare import OPS, differences, materialize, sort_text
from conformance.flink import Flink, Outcome, error_essence


class Refused(Exception):
    """The case cannot be recorded as it is; the message says why."""


def record(flink: Flink, case: Case, repeat: int, vary_order: bool) -> str:
    """Write Flink's answer into the case's file; returns what was recorded. Raises Refused."""
    if case.compare == "error":
        return _record_error(flink, case)
    outcomes = _outcomes(flink, case, repeat, vary_order)
    label, first = outcomes[0]
    ops = sorted({op for op, _ in first.changes}, key=OPS.index)
    case.flink = {
        "version": flink.version,
        "settings": case.own_settings,
        "schema": first.schema,
        "time_attributes": first.time_attributes,
        "ops": " ".join(ops),
        "changes": len(first.changes),
        "runs": len(outcomes),
    }
    case.expected = _expected(case, first, ops)
    for label, other in outcomes[1:]:
        if found := differences(case, other.changes):
            raise Refused(f"nondeterministic ({label}): " + " | ".join(found[:4]))
    write_case(case)
    what = "changes" if case.compare == "changelog" else "rows"
    return f"{len(case.expected)} {what} [{' '.join(ops)}] {len(outcomes)} runs"


def _record_error(flink: Flink, case: Case) -> str:
    try:
        flink.run(case)
    except Exception as error:
        essence = error_essence(error)
        for pattern in case.error_mentions:
            if not re.search(pattern, str(error), re.I | re.S):
                raise Refused(f"Flink's error does not mention {pattern!r}: {essence}") from error
    else:
        raise Refused("Flink accepts the query")
    case.error = essence
    case.flink = {"version": flink.version, "settings": case.own_settings}
    case.expected = None
    write_case(case)
    return "error recorded: " + essence.replace("\n", " | ")[:150]


def _outcomes(flink: Flink, case: Case, repeat: int, vary_order: bool) -> list[tuple[str, Outcome]]:
    """Several runs that must agree: in the given order, then with one table delivering before
    the other and the other way around.
    """
    label = "arrival" if case.arrival else "plain"
    outcomes = [(label, flink.run(case, order=case.arrival)) for _ in range(repeat)]
    streams = [table for table in case.tables if table.in_database is None]
    if vary_order and not case.arrival and len(streams) > 1:
        forward = [table.name for table in streams for _ in table.rows]
        backward = [table.name for table in reversed(streams) for _ in table.rows]
        for number, order in enumerate((forward, backward)):
            outcomes.append((f"order {number}", flink.run(case, order=order)))
    return outcomes


def _expected(case: Case, outcome: Outcome, ops: list[str]) -> list[Any]:
    if case.compare == "changelog":
        return [{"op": op, "row": row} for op, row in outcome.changes]
    if "+U" in ops and "-U" not in ops and not case.key:
        raise Refused("Flink emits +U without -U, give `key` to apply it as an upsert")
    rows, problems = materialize(outcome.changes, case.key)
    if problems:
        raise Refused(f"Flink's changelog does not apply: {problems[0]}")
    if case.compare == "append" and ops not in ([], ["+I"]):
        raise Refused(f"compare is append but Flink emits {ops}")
    return sorted(rows, key=lambda row: sort_text(list(row.values())))
