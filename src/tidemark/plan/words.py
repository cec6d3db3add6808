"""Expressions in readable form, for EXPLAIN."""

from __future__ import annotations

from typing import Any

from tidemark import types as t
from tidemark.plan.expressions import (
    Call,
    Case,
    Cast,
    Expression,
    FieldAccess,
    Literal,
    Ref,
    UserCall,
)
from tidemark.plan.window_words import duration


def words(expression: Expression) -> str:
    """An expression in readable form; implicit casts are omitted."""
    match expression:
        case Ref(name=name):
            return name
        case Literal(value=value, type=type_):
            return _constant(value, type_)
        case Call(function=function, args=args):
            return _call(function.name, [words(arg) for arg in args])
        case UserCall(function=user, args=args):
            return _call(user.name, [words(arg) for arg in args])
        case Cast(operand=operand, implicit=True):
            return words(operand)
        case Cast(operand=operand, type=type_, safe=safe):
            return f"{'TRY_CAST' if safe else 'CAST'}({words(operand)} AS {type_.text()})"
        case Case(branches=branches, default=default):
            whens = " ".join(f"WHEN {words(c)} THEN {words(v)}" for c, v in branches)
            return f"CASE {whens} ELSE {words(default)} END"
        case FieldAccess(operand=operand, name=name):
            return f"{words(operand)}.{name}"


def idle_words(ttl_ms: int, since: str) -> str:
    """How long a STATE_TTL hint keeps state, in readable form."""
    return f"for {duration(ttl_ms)} {since} (STATE_TTL)" if ttl_ms else "forever (STATE_TTL)"


_POSTFIX = {"IS NULL", "IS TRUE", "IS FALSE", "IS UNKNOWN"}


def _call(name: str, args: list[str]) -> str:
    if name == "ITEM":
        return f"{args[0]}[{args[1]}]"
    if name == "REQUIRED":
        return f"REQUIRED({args[0]})"
    if name == "NEG":
        return f"-{args[0]}"
    if name == "NOT":
        return f"NOT {args[0]}"
    if name == "BETWEEN":
        return f"{args[0]} BETWEEN {args[1]} AND {args[2]}"
    if name == "IN":
        return f"{args[0]} IN ({', '.join(args[1:])})"
    if name in _POSTFIX or name.startswith("IS JSON"):
        return f"{args[0]} {name}"
    infix = not name[0].isalpha() or name in ("AND", "OR", "LIKE", "SIMILAR TO")
    if (infix or " DISTINCT FROM" in name) and len(args) == 2:
        return f"({args[0]} {name} {args[1]})"
    return f"{name}({', '.join(args)})"


def _constant(value: Any, type_: t.DataType) -> str:
    if value is None:
        return "NULL"
    match type_:
        case t.Char() | t.VarChar():
            return "'" + str(value).replace("'", "''") + "'"
        case t.Boolean():
            return str(value).upper()
        case t.Binary() | t.VarBinary():
            return f"X'{value.hex().upper()}'"
        case t.DayTimeInterval():
            return f"INTERVAL '{value / 1000:g}' SECOND"
        case t.YearMonthInterval():
            return f"INTERVAL '{value}' MONTH"
        case t.Date() | t.Time() | t.Timestamp():
            return f"{type_.text().split('(')[0]} '{value}'"
    return str(value)
