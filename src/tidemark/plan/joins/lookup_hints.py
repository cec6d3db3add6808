"""`/*+ LOOKUP('table' = 'd', ...) */`: how rows of a table are looked up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from sqlglot import exp

from tidemark.dialect import nodes, span_of
from tidemark.durations import parse_duration
from tidemark.errors import PlanError, did_you_mean
from tidemark.plan.nodes.lookup_join import LookupRetry

_RETRY: Final = ("retry-predicate", "retry-strategy", "fixed-delay", "max-attempts")


def retry_of(hints: Sequence[exp.Expression], names: Sequence[str]) -> LookupRetry | None:
    """What a hint for a table of these names says about keys that nothing is found for.

    A whole batch is looked up at once and its rows stay in order. That is what `async` and the
    options beside it are for, so these are checked and have no effect.
    """
    for hint in hints:
        if hint.name == "LOOKUP" and _options(hint)["table"] in names:
            return _retry(hint, _options(hint))
    return None


def check_lookups(select: exp.Select) -> None:
    """Check that LOOKUP hints are for tables in FROM: another one would have no effect."""
    hints = [hint for hint in select.args.get("hints") or () if hint.name == "LOOKUP"]
    if not hints:
        return
    start = select.args.get("from_")
    relations = [join.this for join in select.args.get("joins") or ()]
    relations += [] if start is None else [start.this]
    known = [name for one in relations for name in (one.name, one.alias) if name]
    for hint in hints:
        table = _options(hint)["table"]
        if table not in known:
            raise PlanError(
                f"the LOOKUP hint is for `{table}`, which is not in FROM",
                at=span_of(hint),
                hint=did_you_mean(table, known),
            )


def _options(hint: exp.Expression) -> dict[str, Any]:
    """The options of a hint, checked."""
    values: dict[str, Any] = {}
    for option in hint.expressions:
        if not isinstance(option, nodes.HintOption):
            raise PlanError("LOOKUP takes 'key' = 'value' pairs", at=span_of(hint))
        if option.name not in _PARSERS:
            raise PlanError(
                f"unknown option '{option.name}' of the LOOKUP hint",
                at=span_of(option),
                hint=did_you_mean(option.name, _PARSERS) or f"options are {', '.join(_PARSERS)}",
            )
        try:
            values[option.name] = _PARSERS[option.name](option.args["value"])
        except ValueError as problem:
            raise PlanError(
                f"option '{option.name}' of the LOOKUP hint: {problem}", at=span_of(option)
            ) from None
    if "table" not in values:
        raise PlanError("the LOOKUP hint requires the option 'table'", at=span_of(hint))
    return values


def _retry(hint: exp.Expression, options: dict[str, Any]) -> LookupRetry | None:
    missing = [name for name in _RETRY if name not in options]
    if len(missing) == len(_RETRY):
        return None
    if missing:
        raise PlanError(
            "the retry options of the LOOKUP hint must be set together",
            at=span_of(hint),
            notes={"missing": ", ".join(missing)},
        )
    return LookupRetry(options["max-attempts"], options["fixed-delay"])


def _one_of(*choices: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.lower() not in choices:
            raise ValueError(f"expected {' or '.join(choices)}")
        return text.lower()

    return parse


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ValueError("expected a positive integer")
    return int(text)


_PARSERS: Final[dict[str, Callable[[str], Any]]] = {
    "table": str,
    "async": _one_of("true", "false"),
    "output-mode": _one_of("ordered", "allow_unordered"),
    "capacity": _positive,
    "timeout": parse_duration,
    "shuffle": _one_of("true", "false"),
    "retry-predicate": _one_of("lookup_miss"),
    "retry-strategy": _one_of("fixed_delay"),
    "fixed-delay": parse_duration,
    "max-attempts": _positive,
}
