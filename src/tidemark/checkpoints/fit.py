"""Whether a job can resume from a checkpoint: operator by operator and source by source."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.checkpoints.contract import Contract
from tidemark.errors import JobError
from tidemark.plan.kept_state import FILTERS, KeptState, Rows
from tidemark.plan.nodes.aggregate_call import KEPT_AS
from tidemark.storage import Location


@dataclass(frozen=True, slots=True)
class Misfit:
    """A part of a checkpoint that a job cannot resume from: what differs, and what to do."""

    what: str
    then: str
    now: str
    hint: str
    operator: str | None = None  # None: it concerns the whole job


_AGAIN = "start over with another checkpoint folder"


def check(folder: Location, then: Contract, now: Contract) -> None:
    """Raise a JobError with everything that does not fit, if a job cannot resume."""
    found = list(misfits(then, now))
    if not found:
        return
    first, *others = found
    notes: dict[str, object] = {"checkpoint": folder, "then": first.then, "now": first.now}
    if others:
        notes["also"] = "; ".join(misfit.what for misfit in others)
    raise JobError(
        f"job {now.job} cannot resume from its checkpoint: {first.what}",
        notes=notes,
        hint=first.hint,
    )


def check_readings(contract: Contract, now: Sequence[Sequence[int]]) -> None:
    """Raise a JobError if the readings of a plan are not those with which its job has started."""
    if contract.readings in (None, now):
        return
    tables = [source.table for source in contract.sources if source.connector != "values"]
    names = {tables[place] for places in contract.readings or () for place in places}
    raise JobError(
        f"job {contract.job} cannot resume from its checkpoint: some operators no longer read a "
        "table together",
        notes={"tables": ", ".join(f"`{name}`" for name in sorted(names))},
        hint=f"restore the queries of these operators, or {_AGAIN}",
    )


def misfits(then: Contract, now: Contract) -> Iterator[Misfit]:
    """What differs so that state or positions cannot be used."""
    yield from _operators(then, now)
    yield from _sources(then, now)


# --- operators ---------------------------------------------------------------------------------


def _operators(then: Contract, now: Contract) -> Iterator[Misfit]:
    before = {operator.id: operator for operator in then.operators}
    after = {operator.id: operator for operator in now.operators}
    for id_ in before.keys() - after.keys():
        yield Misfit(
            f"the checkpoint has state for operator {id_}, which the script no longer has",
            id_,
            _listed(now),
            f"restore the operator, {_drop(now)}or {_AGAIN}",
            id_,
        )
    for id_ in after.keys() - before.keys():
        yield Misfit(
            f"the checkpoint has no state for operator {id_}",
            _listed(then),
            id_,
            f"remove the operator, or {_AGAIN}",
            id_,
        )
    for id_ in [id_ for id_ in before if id_ in after]:
        yield from _operator(before[id_], after[id_])
    if before.keys() == after.keys() and [*before] != [*after]:
        yield Misfit(
            "the operators are in a different order",
            _listed(then),
            _listed(now),
            f"restore the order of joins and inputs, or {_AGAIN}",
        )


def _drop(now: Contract) -> str:
    """State can only be dropped with all operators: Spark identifies the others by position."""
    return "" if now.operators else "drop its state with --allow-non-restored-state, "


def _operator(before: KeptState, after: KeptState) -> Iterator[Misfit]:
    yield from _filters(before, after)
    for name in sorted((before.meaning.keys() | after.meaning.keys()) - {*FILTERS}):
        then, now = before.meaning.get(name), after.meaning.get(name)
        if then != now and _without_layout(then) == _without_layout(now):
            yield Misfit(
                f"{before.id} stores its functions differently than the version that wrote the "
                "state",
                _said(then),
                _said(now),
                f"let the version that wrote it finish the job, or {_AGAIN}",
                before.id,
            )
        elif then != now:
            yield Misfit(
                f"{before.id} differs in {name} from the operator that wrote the state",
                _said(then),
                _said(now),
                f"restore {before.id}, or {_AGAIN}",
                before.id,
            )
    for place, (rows, wanted) in enumerate(zip(before.rows, after.rows, strict=False)):
        if rows != wanted:
            yield _columns(after.id, place, len(before.rows), rows, wanted)


def _without_layout(value: Any) -> Any:
    """What is meant, however it is kept."""
    if isinstance(value, dict):
        return {key: _without_layout(each) for key, each in value.items() if key != KEPT_AS}
    return [*map(_without_layout, value)] if isinstance(value, list) else value


def _filters(before: KeptState, after: KeptState) -> Iterator[Misfit]:
    """Rows are missing in the state that a filter has dropped, although it is written above."""
    for name in FILTERS:
        rows = name.removeprefix("filters of the ")
        then, now = before.meaning.get(name, []), after.meaning.get(name, [])
        if _conditions(then) != _conditions(now):
            yield Misfit(
                f"{before.id} has only kept {rows} that pass a filter of its query, which "
                "differs now",
                _words(then),
                _words(now),
                f"restore this filter; others may be added. Or {_AGAIN}",
                before.id,
            )


def _conditions(filters: Sequence[dict[str, Any]]) -> set[str]:
    """As a set: neither their order nor repetition changes what passes."""
    return {json.dumps(each["condition"], sort_keys=True) for each in filters}


def _words(conditions: Sequence[dict[str, Any]]) -> str:
    return " AND ".join(each["words"] for each in conditions) or "nothing"


def _columns(id_: str, place: int, inputs: int, then: Rows, now: Rows) -> Misfit:
    side = ("left ", "right ")[place] if inputs == 2 else ""
    there = {column.name: column for column in then}
    missing = [column for column in now if column.name not in there]
    what = f"{id_} keeps different columns of its {side}rows"
    hint = f"restore the columns of the operator, or {_AGAIN}"
    if missing:
        names = ", ".join(f"`{column.name}`" for column in missing)
        what = f"{id_} needs {names} of its {side}rows, which are not in its state"
        hint = f"do not use {names} above {id_}, or {_AGAIN}"
        if (earlier := _earlier_name(then, now)) is not None:
            hint = f"if {names} was `{earlier}` before, rename it above {id_} instead. Or {hint}"
    return Misfit(what, ", ".join(map(str, then)), ", ".join(map(str, now)), hint, id_)


def _earlier_name(then: Rows, now: Rows) -> str | None:
    """What a column may have been called: one is new, and one of its type is no longer there."""
    new = [column for column in now if column.name not in {one.name for one in then}]
    gone = [column for column in then if column.name not in {one.name for one in now}]
    if len(new) == 1 and len(gone) == 1 and new[0].type == gone[0].type:
        return gone[0].name
    return None


def _listed(contract: Contract) -> str:
    return ", ".join(operator.id for operator in contract.operators) or "no stateful operators"


def _said(value: Any) -> str:
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False)


# --- sources -----------------------------------------------------------------------------------


def _sources(then: Contract, now: Contract) -> Iterator[Misfit]:
    fits = len(then.sources) == len(now.sources) and all(
        after.goes_on(before) for before, after in zip(then.sources, now.sources, strict=True)
    )
    if not fits:
        yield Misfit(
            "the job reads different tables, or in a different order",
            ", ".join(map(str, then.sources)) or "none",
            ", ".join(map(str, now.sources)) or "none",
            f"read the same tables in the same order, or {_AGAIN}",
        )
