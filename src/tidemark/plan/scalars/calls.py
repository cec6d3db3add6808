"""Function calls: a user's function, a built-in one, or an error that suggests the nearest name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sqlglot import exp

from tidemark import functions
from tidemark import types as t
from tidemark.catalog.catalogs import Catalogs
from tidemark.catalog.loading import resolved
from tidemark.catalog.tables import UserFunction
from tidemark.catalog.user_functions import argument_problem
from tidemark.dialect import nodes, span_of
from tidemark.dialect.statements import Name
from tidemark.errors import PlanError, UnknownFunction, did_you_mean
from tidemark.functions.casts import can_cast_implicitly
from tidemark.functions.elsewhere import instead_of
from tidemark.functions.json_calls import Clauses, json_function
from tidemark.functions.json_functions import NESTED_JSON
from tidemark.functions.registry import SignatureMismatch
from tidemark.plan import unsupported
from tidemark.plan.expressions import Call, Cast, Expression, Ref, UserCall
from tidemark.plan.features import refuse_aggregate, refuse_call_that_cannot_run
from tidemark.plan.scalars import literals
from tidemark.plan.scalars.conversions import apply, convert
from tidemark.plan.scope import Scope

_CONSTRUCTORS = ("JSON_OBJECT", "JSON_ARRAY")


class ArgumentBinder(Protocol):
    """Binds the arguments of a call."""

    @property
    def scope(self) -> Scope: ...

    @property
    def catalogs(self) -> Catalogs: ...

    def bind(self, node: exp.Expression) -> Expression: ...

    def bind_all(self, several: Sequence[exp.Expression]) -> tuple[Expression, ...]: ...


def function_call(binder: ArgumentBinder, node: exp.Anonymous) -> Expression:
    name = node.name
    for argument in node.expressions:
        if isinstance(argument, nodes.NamedArgument):
            raise unsupported.NAMED_ARGUMENTS.error(span_of(argument))
    called = name_of_function(node)
    built_in = functions.lookup(name) if len(called.parts) == 1 else None
    if built_in is not None:
        call = apply(built_in, binder.bind_all(node.expressions), node)
        if built_in.name == "CURRENT_WATERMARK":
            _check_event_time(binder, call.args[0], node)
        if built_in.name == "CURRENT_DATABASE":
            return Cast(literals.text(binder.catalogs.session_database), call.type)
        # It does not quote JSON that was just written.
        return call.args[0] if built_in.name == "JSON_STRING" and _is_json(call.args[0]) else call
    user = binder.catalogs.function(called)
    if user is not None:
        return _user_call(user, binder, node)
    if name.upper() in functions.NOT_YET:
        raise functions.NOT_YET[name.upper()].error(span_of(node))
    refuse_call_that_cannot_run(node)
    known = [*functions.BUILT_IN, *binder.catalogs.function_names()]
    hint = (
        instead_of(name)
        or did_you_mean(name, (k for k in known if k[0].isalpha()))
        or f"declare it: CREATE FUNCTION {name} AS 'module.function' LANGUAGE PYTHON"
    )
    raise UnknownFunction(f"unknown function `{name}`", at=span_of(node), hint=hint)


def _check_event_time(binder: ArgumentBinder, time: Expression, node: exp.Anonymous) -> None:
    if isinstance(time, Ref) and binder.scope.visible[time.index].column.time == "event":
        return
    raise PlanError(
        "the argument of CURRENT_WATERMARK must be an event-time attribute",
        at=span_of(node.expressions[0]),
        notes={"why": "only such a column has a watermark (same in Flink)"},
        hint="pass the column that the table's WATERMARK is for",
    )


def name_of_function(call: exp.Anonymous) -> Name:
    """The name as it was called, qualified or not."""
    return Name((*(part.name for part in call.args.get("qualifier") or ()), call.name))


def json_call(binder: ArgumentBinder, node: nodes.JsonCall) -> Expression:
    """A JSON function of the standard; its clauses select the function that runs."""
    refuse_call_that_cannot_run(node)
    behaviors = {key: node.args.get(key) for key in ("on_empty", "on_error")}
    returning = node.args.get("returning")
    clauses = Clauses(
        returning=returning.data_type if returning else None,
        on_empty=_behavior(behaviors["on_empty"]),
        on_error=_behavior(behaviors["on_error"]),
        wrapper=node.args.get("wrapper"),
        on_null=node.args.get("on_null"),
        raw=frozenset(n for n, value in enumerate(node.expressions) if _writes_json(value)),
    )
    args = [_json_argument(binder, value) for value in node.expressions]
    defaults = {k: binder.bind(b.this) for k, b in behaviors.items() if b is not None and b.this}
    args += _defaults(defaults, clauses, node)
    try:
        function = json_function(node.this, clauses)
    except SignatureMismatch as mismatch:
        raise PlanError(f"invalid call of {node.this}: {mismatch}", at=span_of(node)) from None
    return apply(function, args, node)


def _defaults(
    given: dict[str, Expression], clauses: Clauses, node: nodes.JsonCall
) -> list[Expression]:
    """The values of DEFAULT. A string for ON EMPTY that RETURNING cannot have is an error of the
    call, as in Flink, so ON ERROR says what it gives.
    """
    empty, type_ = given.get("on_empty"), clauses.returning
    if empty is None or type_ is None or clauses.on_error == "ERROR":
        return [*given.values()]
    if isinstance(empty.type, t.Char | t.VarChar) and not isinstance(type_, t.Char | t.VarChar):
        empty = Cast(empty, type_.with_nullable(True), safe=True)
        if "on_error" in given:
            empty = apply(functions.BUILT_IN["COALESCE"], [empty, given["on_error"]], node)
    return [*(given | {"on_empty": empty}).values()]


def _behavior(clause: nodes.JsonBehavior | None) -> str | None:
    return None if clause is None else str(clause.args["kind"])


def _writes_json(value: exp.Expression) -> bool:
    """Whether it is JSON that nests in other JSON unquoted."""
    if isinstance(value, exp.Paren):
        return _writes_json(value.this)
    if isinstance(value, nodes.JsonCall):
        return value.this in _CONSTRUCTORS
    return _is_json_text(value)


def _is_json_text(value: exp.Expression) -> bool:
    return isinstance(value, exp.Anonymous) and value.name.upper() == "JSON"


def _is_json(value: Expression) -> bool:
    return isinstance(value, Call) and value.function.name in _CONSTRUCTORS


def _json_argument(binder: ArgumentBinder, value: exp.Expression) -> Expression:
    if _is_json_text(value):
        return apply(NESTED_JSON, binder.bind_all(value.expressions), value)
    return binder.bind(value)


def _user_call(declared: UserFunction, binder: ArgumentBinder, node: exp.Anonymous) -> Expression:
    function = resolved(declared, at=span_of(node))
    if function.aggregate:
        refuse_aggregate(function.name, node)
    if function.table:
        raise PlanError(
            f"table function `{function.name}` is only allowed in FROM",
            at=span_of(node),
            hint=f"write FROM t, LATERAL TABLE({function.name}(...)) AS r (...)",
        )
    assert function.returns is not None
    args = as_parameters(binder.bind_all(node.expressions), function, node, node.expressions)
    return UserCall(function, args, function.returns)


def as_parameters(
    args: tuple[Expression, ...],
    function: UserFunction,
    node: exp.Expression,
    arguments: Sequence[exp.Expression],
) -> tuple[Expression, ...]:
    """The arguments converted to the declared parameter types, or unchanged if there are none."""
    parameters = function.parameters
    if parameters is None:
        problem = argument_problem(function, len(args))
        if problem is not None:
            raise PlanError(
                f"function `{function.name}` does not accept {len(args)} arguments: {problem}",
                at=span_of(node),
            )
        return args
    if len(args) != len(parameters):
        raise PlanError(
            f"function `{function.name}` takes {len(parameters)} arguments, not {len(args)}",
            at=span_of(node),
            notes={"parameters": ", ".join(p.text() for p in parameters) or "none"},
        )
    for arg, parameter, written in zip(args, parameters, arguments, strict=True):
        if not can_cast_implicitly(arg.type, parameter):
            raise PlanError(
                f"`{function.name}` requires {parameter.text()} here, not {arg.type.text()}",
                at=span_of(written),
                hint=f"CAST(... AS {parameter.text()})",
            )
    return tuple(convert(a, p) for a, p in zip(args, parameters, strict=True))
