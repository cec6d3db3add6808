"""PATTERN, SUBSET and AFTER MATCH. Variables that follow each other are what Flink allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from tidemark.dialect import nodes, span_of
from tidemark.errors import PlanError, Span, did_you_mean
from tidemark.kernels.match_recognize.spec import Shape, Skip, VariableSubset
from tidemark.plan import unsupported
from tidemark.plan.matches.shapes import (
    bounds_of,
    has_shape,
    is_unbounded,
    may_be_empty,
    names_in,
    shape_of,
)
from tidemark.plan.nodes import MatchVariable


@dataclass(frozen=True, slots=True)
class BoundPattern:
    """The variables of PATTERN. Without a shape they follow each other, as Flink allows it."""

    variables: tuple[MatchVariable, ...]
    shape: Shape | None
    subsets: tuple[VariableSubset, ...]
    shows_empty: bool = False

    @classmethod
    def of(cls, node: nodes.MatchRecognize) -> BoundPattern:
        written, rows = node.args["pattern"], node.args.get("rows") or ""
        by_standard = rows.endswith(("SHOW EMPTY MATCHES", "UNMATCHED ROWS"))
        if not has_shape(written) and not by_standard:
            variables = _variables_of(written)
            return cls(variables, None, _subsets(node, variables))
        names = names_in(written)
        shape = shape_of(written, names)
        _check_exclusion(written, rows)
        variables = tuple(MatchVariable(name) for name in names)
        shows_empty = may_be_empty(shape) and "OMIT" not in rows
        return cls(variables, shape, _subsets(node, variables), shows_empty)

    @property
    def unbounded(self) -> bool:
        if self.shape is not None:
            return is_unbounded(self.shape)
        return any(variable.most is None for variable in self.variables)

    @property
    def own_names(self) -> tuple[str, ...]:
        return tuple(variable.name for variable in self.variables)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of variables, then of subsets."""
        return (*self.own_names, *(subset.name for subset in self.subsets))


def _check_exclusion(pattern: exp.Expression, rows: str) -> None:
    excluded = pattern.find(nodes.PatternExclude)
    if excluded is None:
        return
    if not rows.startswith("ALL ROWS"):
        what = "an exclusion `{- -}` with ONE ROW PER MATCH"
        raise unsupported.IN_PATTERNS.error(span_of(excluded), what)
    if rows.endswith("UNMATCHED ROWS"):
        raise PlanError(
            "an exclusion `{- -}` is not allowed with WITH UNMATCHED ROWS",
            at=span_of(excluded),
            notes={"why": "the rows would be neither matched nor unmatched"},
            hint="leave WITH UNMATCHED ROWS out",
        )


def _subsets(
    node: nodes.MatchRecognize, variables: Sequence[MatchVariable]
) -> tuple[VariableSubset, ...]:
    names = [variable.name for variable in variables]
    found: list[VariableSubset] = []
    for written in node.args.get("subsets") or ():
        for member in written.expressions:
            if member.name not in names:
                raise unknown_variable(member.name, names, span_of(member))
        if written.this.name in [*names, *(subset.name for subset in found)]:
            raise PlanError(
                f"the name `{written.this.name}` is used twice",
                at=span_of(written),
                hint="give the subset another name than variables and other subsets have",
            )
        members = tuple(sorted({names.index(member.name) for member in written.expressions}))
        found.append(VariableSubset(written.this.name, members))
    return tuple(found)


def _variables_of(pattern: exp.Expression) -> tuple[MatchVariable, ...]:
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
    if variables:
        _check_last(variables[-1], parts[-1])
    if all(variable.least == 0 for variable in variables):
        raise _matches_nothing(pattern)
    return tuple(variables)


def _matches_nothing(pattern: exp.Expression) -> PlanError:
    return PlanError(
        "the pattern matches even without rows",
        at=span_of(pattern),
        notes={"why": "at least one variable must have a row (same in Flink)"},
        hint="use + instead of *, or add a variable without a quantifier",
    )


def _parts(pattern: exp.Expression) -> Iterator[exp.Expression]:
    if isinstance(pattern, nodes.PatternSequence):
        for part in pattern.expressions:
            yield from _parts(part)
    else:
        yield pattern


def _variable(part: exp.Expression) -> MatchVariable:
    if isinstance(part, nodes.PatternVariable):
        return MatchVariable(part.name)
    assert isinstance(part, nodes.PatternRepeat)
    repeated, (least, most) = part.this, bounds_of(part)
    greedy = bool(part.args["greedy"])
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


def skip_of(after: exp.Expression | None, names: Sequence[str]) -> Skip:
    if after is None:
        # As in Flink; the SQL standard would skip past the last row.
        return Skip("next row")
    kind = after.args["kind"]
    if kind == "PAST LAST ROW":
        return Skip("past last row")
    if kind == "TO NEXT ROW":
        return Skip("next row")
    name = after.this.name
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
