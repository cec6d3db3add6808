"""The arguments of the table functions that Flink has built in: by name, tables and columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from tidemark.dialect import nodes, span_of
from tidemark.errors import PlanError, did_you_mean
from tidemark.plan.context import Context
from tidemark.plan.nodes import Node

Arguments = Mapping[str, exp.Expression]


def arguments_of(call: nodes.TableFunction, known: Sequence[str]) -> Arguments:
    """The arguments by name, all of which are named or none is; without those that are NULL or
    DEFAULT.
    """
    name, given = call.name.upper(), call.expressions
    spelling = {"expected": f"{name}({', '.join(known)})"}
    named = [one for one in given if isinstance(one, nodes.NamedArgument)]
    if named and len(named) < len(given):
        raise PlanError(
            f"the arguments of {name} must all be named, or none of them",
            at=span_of(call),
            notes=spelling,
        )
    if len(given) > len(known):
        raise PlanError(f"{name} has too many arguments", at=span_of(call), notes=spelling)
    found: dict[str, exp.Expression] = {}
    for key, written, value in _by_name(given, known):
        if key not in known or key in found:
            what = "unknown argument" if key not in known else "there are two arguments"
            hint = did_you_mean(key, known) if key not in known else None
            raise PlanError(f"{what} `{key}`", at=span_of(written), notes=spelling, hint=hint)
        found[key] = value
    unset = exp.Null | nodes.DefaultArgument
    return {key: value for key, value in found.items() if not isinstance(value, unset)}


def _by_name(
    given: Sequence[exp.Expression], known: Sequence[str]
) -> Iterator[tuple[str, exp.Expression, exp.Expression]]:
    for place, argument in enumerate(given):
        if isinstance(argument, nodes.NamedArgument):
            yield argument.this.name, argument, argument.expression
        else:
            yield known[place], argument, argument


def input_of(
    call: nodes.TableFunction, arguments: Arguments, context: Context, why_whole: str
) -> Node:
    """The rows of the argument `input`, which is a table without partitions and order."""
    name, table = call.name.upper(), arguments.get("input")
    if not isinstance(table, nodes.TableArgument):
        raise PlanError(
            f"{name} requires a table as its argument `input`",
            at=span_of(call if table is None else table),
            hint=f"write {name}(input => TABLE t)",
        )
    for clause, words in (("partition_by", "PARTITION BY"), ("order", "ORDER BY")):
        if table.args.get(clause):
            raise PlanError(
                f"{words} is not allowed in {name}, {why_whole} (same in Flink)",
                at=span_of(table),
                hint="leave it out",
            )
    return context.bind_relation(table.this).node


def column_of(arguments: Arguments, key: str, example: str) -> exp.Expression | None:
    """The only name in a DESCRIPTOR."""
    written = arguments.get(key)
    if written is None:
        return None
    if not isinstance(written, nodes.Descriptor) or len(written.expressions) != 1:
        raise PlanError(
            f"the argument `{key}` must be a DESCRIPTOR of exactly one column",
            at=span_of(written),
            hint=f"write {key} => DESCRIPTOR({example})",
        )
    column: exp.Expression = written.expressions[0]
    return column
