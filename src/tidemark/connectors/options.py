"""The options of a WITH clause: names, types and values, with errors that point at them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from tidemark.catalog.tables import Table
from tidemark.connectors.base import OptionSpec
from tidemark.dialect.statements import NOWHERE, Option
from tidemark.durations import parse_duration, parse_memory
from tidemark.errors import OptionError, PlanError, Span, SqlError, did_you_mean
from tidemark.redaction import asterisks, named_like_a_secret, shown

CONNECTOR_KEYS = ("connector", "connector.type", "type")

# From old DDL; they add nothing that is not known anyway.
_WITHOUT_MEANING = frozenset(
    {
        "connector.property-version",
        "connector.version",
        "format.property-version",
        "format.derive-schema",
        "update-mode",
        "updatemode",
    }
)
_INT = range(-(2**31), 2**31)
_LONG = range(-(2**63), 2**63)


def read_options(table: Table, owner: str, specs: Sequence[OptionSpec]) -> dict[str, Any]:
    """The table's options as values by canonical name, with defaults.

    Patterns such as `fields.#.kind` are only present if the table sets them, under their full
    names.
    """
    values: dict[str, Any] = {s.name: s.default for s in specs if "#" not in s.name}
    given: set[str] = set()
    for option in table.options:
        key = option.key.lower()
        if key in CONNECTOR_KEYS or key in _WITHOUT_MEANING:
            continue
        spec, name = _spec_of(option.key, specs) or _unknown(table, option, owner, specs)
        if name in given:
            raise option_error(table, option.key, f"option '{name}' is given twice")
        given.add(name)
        values[name] = _value(table, option, spec)
    for spec in specs:
        if spec.required and values.get(spec.name) is None:
            raise _missing(table, owner, spec)
    return values


def option_error(
    table: Table,
    key: str,
    message: str,
    *,
    hint: str | None = None,
    notes: Mapping[str, object] | None = None,
) -> OptionError:
    """An error that points at the option `key` of the table, if it is set there."""
    return OptionError(
        message,
        at=span_of_option(table, key),
        source=table.source,
        notes={"table": table.name, **(notes or {})},
        hint=hint,
    )


def column_error(
    table: Table,
    column: str,
    message: str,
    *,
    why: str | None = None,
    hint: str | None = None,
) -> PlanError:
    """An error that points at the declaration of a column."""
    at = next((each.span for each in table.columns if each.name == column), NOWHERE)
    notes = {"table": table.name, **({"why": why} if why else {})}
    return PlanError(message, at=at, source=table.source, notes=notes, hint=hint)


@contextmanager
def pointing_at(table: Table) -> Iterator[None]:
    """Errors without a place of their own point at the declaration of the table."""
    try:
        yield
    except SqlError as error:
        raise error.located_at(table.at, table.source) from error.__cause__


def span_of_option(table: Table, key: str) -> Span | None:
    """Where the option is set; None if it was not set in SQL."""
    at = next((o.span for o in table.options if key.lower() == o.key.lower()), NOWHERE)
    return None if at == NOWHERE else at


def without_secrets(options: Sequence[Option], specs: Sequence[OptionSpec]) -> tuple[Option, ...]:
    """The options with the values of passwords and keys hidden, for display."""
    return tuple(Option(o.key, shown(o.key, o.value, _is_secret(o.key, specs))) for o in options)


def _is_secret(key: str, specs: Sequence[OptionSpec]) -> bool:
    """What the option's declaration says; its name decides if the declaration does not, or is
    unknown.
    """
    found = _spec_of(key, specs)
    declared = found[0].secret if found else None
    return named_like_a_secret(key) if declared is None else declared


def _spec_of(key: str, specs: Sequence[OptionSpec]) -> tuple[OptionSpec, str] | None:
    folded = key.lower()
    for spec in specs:
        if "#" in spec.name:
            prefix, suffix = spec.name.split("#")
            inside = len(prefix) + len(suffix) < len(key)
            if inside and folded.startswith(prefix) and folded.endswith(suffix):
                # The middle is a column's name and keeps its case.
                return spec, prefix + key[len(prefix) : len(key) - len(suffix)] + suffix
        elif folded == spec.name.lower() or folded in _old_names(spec):
            return spec, spec.name
    prefix = "connector."
    return _spec_of(key[len(prefix) :], specs) if folded.startswith(prefix) else None


def _old_names(spec: OptionSpec) -> Iterator[str]:
    """`format.type` for `format`, `format.x` for `json.x`."""
    yield from spec.aliases
    if spec.name == "format":
        yield "format.type"
    elif "." in spec.name:
        yield f"format.{spec.name.split('.', 1)[1]}"


def _unknown(table: Table, option: Option, owner: str, specs: Sequence[OptionSpec]) -> Any:
    columns = [column.name for column in table.columns]
    known = [
        spec.name.replace("#", column)
        for spec in specs
        for column in (columns if "#" in spec.name else [""])
    ]
    raise option_error(
        table,
        option.key,
        f"unknown option '{option.key}' for `{owner}`",
        hint=did_you_mean(option.key, known) or _offered(option.key, [s.name for s in specs]),
    )


# More names than these are listed by what they begin with.
_FEW = 12


def _offered(key: str, names: Sequence[str]) -> str:
    """Which options there are: those that begin like this one, if any do."""
    written = [name.replace("#", "*") for name in names]
    family, dot, _ = key.partition(".")
    related = [name for name in written if dot and name.startswith(family + dot)]
    if not related and len(written) > _FEW:
        written = [
            name
            if sum(_family(other) == _family(name) for other in written) == 1
            else f"{_family(name)}.*"
            for name in written
        ]
    return f"options are {', '.join(dict.fromkeys(related or written))}"


def _family(name: str) -> str:
    return name.partition(".")[0]


def _missing(table: Table, owner: str, spec: OptionSpec) -> OptionError:
    summary = f": {spec.summary}" if spec.summary else ""
    choices = f", one of {', '.join(spec.choices)}" if spec.choices else ""
    return option_error(
        table,
        "connector",
        f"missing option '{spec.name}' for `{owner}`",
        hint=f"add '{spec.name}' = '...'{summary}{choices}",
    )


def _value(table: Table, option: Option, spec: OptionSpec) -> Any:
    try:
        if spec.type == "enum":
            return _choice(option.value, spec.choices)
        return _PARSERS[spec.type](option.value)
    except ValueError as problem:
        hidden = _is_secret(option.key, [spec])
        value = "(hidden)" if hidden else f"'{option.value}'"
        suggestion = did_you_mean(option.value, spec.choices) if spec.choices else None
        if "${" in option.value or "{{" in option.value:
            suggestion = "this is a template: replace its variables first, as envsubst does"
        raise option_error(
            _without_value(table, option) if hidden else table,
            option.key,
            f"invalid value {value} for option '{option.key}': {problem}",
            hint=None if hidden else suggestion,
        ) from None


def _without_value(table: Table, option: Option) -> Table:
    """The table with asterisks for an option's value in the source that errors quote."""
    if table.source is None or option.span == NOWHERE:
        return table
    text, span = table.source.text, option.span
    hidden = text[span.start : span.end].replace(option.value, asterisks(option.value))
    source = replace(table.source, text=text[: span.start] + hidden + text[span.end :])
    return replace(table, source=source)


def _choice(text: str, choices: Sequence[str]) -> str:
    for choice in choices:
        if choice.lower() == text.strip().lower():
            return choice
    raise ValueError(f"expected one of {', '.join(choices)}")


def _boolean(text: str) -> bool:
    return _choice(text, ("true", "false")) == "true"


def _integer(allowed: range) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not re.fullmatch(r"[+-]?[0-9]{1,20}", text.strip()) or int(text) not in allowed:
            raise ValueError(f"expected an integer of {allowed.stop.bit_length()} bits")
        return int(text)

    return parse


def _double(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("expected a number") from None


def _list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(";") if part.strip())


_PARSERS: Mapping[str, Callable[[str], Any]] = {
    "string": str,
    "int": _integer(_INT),
    "long": _integer(_LONG),
    "double": _double,
    "boolean": _boolean,
    "duration": parse_duration,
    "memory": parse_memory,
    "list": _list,
}
