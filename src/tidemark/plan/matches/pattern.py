"""PATTERN and AFTER MATCH: the variables of a pattern, as Flink allows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from tidemark.dialect import nodes, span_of
from tidemark.errors import PlanError, Span, did_you_mean
from tidemark.kernels.match_recognize.spec import Skip
from tidemark.plan import unsupported
from tidemark.plan.nodes import MatchVariable

_REFUSED = {
    nodes.PatternChoice: "alternation",
    nodes.PatternExclude: "an exclusion `{- -}`",
    nodes.PatternPermute: "PERMUTE",
    nodes.PatternSequence: "a group in parentheses",
}


def variables_of(pattern: exp.Expression) -> tuple[MatchVariable, ...]:
    """The variables in order; refuses what Flink refuses."""
    parts = list(_parts(pattern))
    variables: list[MatchVariable] = []
    for part in parts:
        variable = _variable(part)
        if any(variable.name == other.name for other in variables):
            raise PlanError(
                f"pattern variable `{variable.name}` is used twice in PATTERN",
                at=span_of(part),
                notes={"why": "each variable has one place in a pattern (same in Flink)"},
                hint="give the second one another name and the same condition",
            )
        variables.append(variable)
    _check_last(variables[-1], parts[-1])
    if all(variable.least == 0 for variable in variables):
        raise PlanError(
            "the pattern matches even without rows",
            at=span_of(pattern),
            notes={"why": "at least one variable must have a row (same in Flink)"},
            hint="use + instead of *, or add a variable without a quantifier",
        )
    return tuple(variables)


def _parts(pattern: exp.Expression) -> Iterator[exp.Expression]:
    if isinstance(pattern, nodes.PatternSequence):
        for part in pattern.expressions:
            yield from _parts(part)
    else:
        yield pattern


def _variable(part: exp.Expression) -> MatchVariable:
    if isinstance(part, nodes.PatternVariable):
        return MatchVariable(part.name)
    if isinstance(part, nodes.PatternAnchor):
        raise unsupported.IGNORED_IN_PATTERNS.error(span_of(part), "an anchor")
    if not isinstance(part, nodes.PatternRepeat):
        raise unsupported.IN_PATTERNS.error(span_of(part), _REFUSED[type(part)])
    repeated, most = part.this, part.args["most"]
    if not isinstance(repeated, nodes.PatternVariable):
        raise unsupported.IN_PATTERNS.error(span_of(part), _REFUSED[nodes.PatternSequence])
    least, greedy = part.args["least"], bool(part.args["greedy"])
    if most is not None and most < max(least, 1):
        raise PlanError(
            f"{{{least},{most}}} is not a number of rows",
            at=span_of(part),
            hint="write {n} or {n,m} with m at least n and at least 1",
        )
    if not greedy and (least, most) == (0, 1):
        raise PlanError(
            "a reluctant optional variable `??` is not supported",
            at=span_of(part),
            notes={"why": "Flink does not support it either"},
            hint=f"use {repeated.name}{{0,2}}? or leave the variable out",
        )
    return MatchVariable(repeated.name, least, most, greedy)


def _check_last(last: MatchVariable, at: exp.Expression) -> None:
    if last.greedy and last.most != last.least and (last.least, last.most) != (0, 1):
        raise PlanError(
            f"the last variable of a pattern must not be greedy: {last.words()}",
            at=span_of(at),
            notes={"why": "the next row could always belong to the match (same in Flink)"},
            hint=f"use the reluctant {last.words()}?, or end with a variable for one row",
        )


def skip_of(after: exp.Expression | None, variables: Sequence[MatchVariable]) -> Skip:
    if after is None:
        # As in Flink; the SQL standard would skip past the last row.
        return Skip("next row")
    kind = after.args["kind"]
    if kind == "PAST LAST ROW":
        return Skip("past last row")
    if kind == "TO NEXT ROW":
        return Skip("next row")
    name = after.this.name
    names = [variable.name for variable in variables]
    if name not in names:
        raise unknown_variable(name, names, span_of(after))
    return Skip("first" if kind == "TO FIRST" else "last", names.index(name))


def unknown_variable(name: str, names: Sequence[str], at: Span | None) -> PlanError:
    return PlanError(
        f"pattern variable `{name}` is not in PATTERN",
        at=at,
        notes={"variables": ", ".join(names)},
        hint=did_you_mean(name, names),
    )
