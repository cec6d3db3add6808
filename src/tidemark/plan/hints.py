"""Hints: OPTIONS of tables, and those about joins and state, which are checked as in Flink."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from sqlglot import exp

from tidemark.catalog.tables import Table
from tidemark.dialect import nodes, span_of
from tidemark.dialect.statements import NOWHERE, Option
from tidemark.durations import parse_duration
from tidemark.errors import PlanError, did_you_mean
from tidemark.plan.state_ttls import STATE_TTL

_JOIN_HINTS = ("BROADCAST", "MULTI_JOIN", "NEST_LOOP", "SHUFFLE_HASH", "SHUFFLE_MERGE")
_HINTS = ("OPTIONS", *_JOIN_HINTS, "EARLY_FIRE", "LOOKUP", STATE_TTL)


def check_hints(hints: Iterable[exp.Expression]) -> None:
    """Reject unknown hints: a misspelled one would have no effect, silently."""
    for hint in hints:
        if hint.name not in _HINTS:
            raise PlanError(
                f"unknown hint {hint.name}", at=span_of(hint), hint=did_you_mean(hint.name, _HINTS)
            )


def check_hints_of_select(select: exp.Select) -> None:
    """The hints after SELECT, whose tables must be in FROM.

    Join hints have no effect: tables' sizes decide which join of a batch has no exchange.
    """
    hints = select.args.get("hints") or ()
    check_hints(hints)
    for hint in hints:
        if hint.name in _JOIN_HINTS:
            _check_names(hint, _named_tables(hint), select, where=_joins(select))
        if hint.name == STATE_TTL:
            grouped = select.args.get("group") is not None
            _check_names(hint, _ttls(hint), select, where=grouped or _joins(select))


def _named_tables(hint: exp.Expression) -> list[str]:
    """The tables of a join hint."""
    names = [given.name for given in hint.expressions]
    if not names or any(isinstance(given, nodes.HintOption) for given in hint.expressions):
        raise PlanError(
            f"{hint.name} takes the names of tables",
            at=span_of(hint),
            hint=f"write {hint.name}(t), with the alias of the table if it has one",
        )
    return names


def _ttls(hint: exp.Expression) -> list[str]:
    """The tables of STATE_TTL, each with a duration."""
    hint_text = "write STATE_TTL('t' = '1 d'), with the alias of the table if it has one"
    for given in hint.expressions:
        if not isinstance(given, nodes.HintOption):
            raise PlanError(
                "STATE_TTL takes pairs of a table and a duration", at=span_of(hint), hint=hint_text
            )
        try:
            parse_duration(given.args["value"])
        except ValueError as problem:
            raise PlanError(
                f"invalid duration '{given.args['value']}' in STATE_TTL: {problem}",
                at=span_of(given),
                hint=hint_text,
            ) from None
    if not hint.expressions:
        raise PlanError("STATE_TTL names no table", at=span_of(hint), hint=hint_text)
    return [given.name for given in hint.expressions]


def _joins(select: exp.Select) -> bool:
    return bool(select.args.get("joins"))


def _check_names(
    hint: exp.Expression, names: Iterable[str], select: exp.Select, *, where: bool
) -> None:
    """Names must be in FROM `where` the hint can matter (same in Flink)."""
    known = list(_names_in_from(select))
    for name in names:
        if where and name.rpartition(".")[2] not in known:
            raise PlanError(
                f"hint {hint.name} names `{name}`, which is not a table or alias in FROM",
                at=span_of(hint),
                notes={"FROM": ", ".join(known)},
                hint=did_you_mean(name, known),
            )


def _names_in_from(select: exp.Select) -> Iterator[str]:
    start = select.args.get("from_")
    sources = [start.this] if start is not None else []
    for join in select.args.get("joins") or ():
        sources.append(join.this)
    while sources:
        source = sources.pop(0)
        if isinstance(source, nodes.JoinGroup):
            sources += [source.this, *(join.this for join in source.args["joins"])]
        elif source.alias_or_name:
            yield source.alias_or_name


# --- OPTIONS -----------------------------------------------------------------------------------


def refuse_options(hints: Iterable[exp.Expression], what: str) -> None:
    for hint in hints:
        if hint.name == "OPTIONS":
            raise PlanError(f"{what} does not have options; only tables do", at=span_of(hint))


def options_of(hints: Iterable[exp.Expression]) -> tuple[Option, ...]:
    """`/*+ OPTIONS('k' = 'v') */` after the name, which override the table's own options."""
    given: list[Option] = []
    for hint in hints:
        for option in hint.expressions if hint.name == "OPTIONS" else ():
            if not isinstance(option, nodes.HintOption):
                raise PlanError("OPTIONS takes 'key' = 'value' pairs", at=span_of(hint))
            given.append(Option(option.name, option.args["value"], NOWHERE))
    return tuple(given)


def with_options(table: Table, given: tuple[Option, ...]) -> Table:
    changed = {option.key for option in given}
    kept = tuple(option for option in table.options if option.key not in changed)
    return replace(table, options=(*kept, *given)) if given else table
