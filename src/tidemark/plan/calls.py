"""Function calls: a user's function, a built-in one, or an error that names the nearest known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from tidemark import functions
from tidemark.catalog.tables import UserFunction
from tidemark.catalog.user_functions import resolved
from tidemark.dialect import nodes, span_of
from tidemark.dialect.statements import Name
from tidemark.errors import NotSupported, PlanError, did_you_mean
from tidemark.functions.casts import can_cast_implicitly
from tidemark.plan.conversions import apply, convert
from tidemark.plan.expressions import Expression, UserCall
from tidemark.plan.features import refuse_call_that_cannot_run

if TYPE_CHECKING:
    from tidemark.plan.scalars import Binder


def function_call(binder: Binder, node: exp.Anonymous) -> Expression:
    name = node.name
    for argument in node.expressions:
        if isinstance(argument, nodes.NamedArgument):
            raise NotSupported(
                "named arguments of scalar functions cannot be run",
                at=span_of(argument),
                hint="write the arguments in order",
            )
    qualifier = [part.name for part in node.args.get("qualifier") or ()]
    built_in = None if qualifier else functions.lookup(name)
    if built_in is not None:
        return apply(built_in, binder.bind_all(node.expressions), node)
    user = binder.catalogs.function(Name((*qualifier, name)))
    if user is not None:
        return _user_call(user, binder, node)
    if name.upper() in functions.NOT_YET:
        reason = functions.NOT_YET[name.upper()]
        raise NotSupported(
            f"function {name.upper()} cannot be run yet", at=span_of(node), notes={"why": reason}
        )
    refuse_call_that_cannot_run(node)
    known = [*functions.BUILT_IN, *binder.catalogs.function_names()]
    hint = did_you_mean(name, (k for k in known if k[0].isalpha()))
    raise PlanError(f"function `{name}` is not known", at=span_of(node), hint=hint)


def json_call(binder: Binder, node: nodes.JsonCall) -> Expression:
    """A JSON function of the standard; its clauses choose the function that runs."""
    from tidemark.functions.json_calls import json_function

    behaviors = {
        key: (clause.args["kind"], binder.bind(clause.this) if clause.this else None)
        for key in ("on_empty", "on_error")
        if (clause := node.args.get(key)) is not None
    }
    raise NotImplementedError((json_function, behaviors))


def _user_call(declared: UserFunction, binder: Binder, node: exp.Anonymous) -> Expression:
    function = resolved(declared, at=span_of(node))
    assert function.returns is not None
    args = binder.bind_all(node.expressions)
    return UserCall(function, _as_parameters(args, function, node), function.returns)


def _as_parameters(
    args: tuple[Expression, ...], function: UserFunction, node: exp.Anonymous
) -> tuple[Expression, ...]:
    """The arguments converted to what the function says it takes; as they are if it does not."""
    parameters = function.parameters
    if parameters is None:
        return args
    if len(args) != len(parameters):
        raise PlanError(
            f"function `{function.name}` takes {len(parameters)} arguments, not {len(args)}",
            at=span_of(node),
            notes={"parameters": ", ".join(p.text() for p in parameters) or "none"},
        )
    for arg, parameter, written in zip(args, parameters, node.expressions, strict=True):
        if not can_cast_implicitly(arg.type, parameter):
            raise PlanError(
                f"function `{function.name}` takes {parameter.text()} here, not {arg.type.text()}",
                at=span_of(written),
                hint=f"CAST(... AS {parameter.text()})",
            )
    return tuple(convert(a, p) for a, p in zip(args, parameters, strict=True))
