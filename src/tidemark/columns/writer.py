"""Expressions of plans as expressions of Polars."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from tidemark.columns.call import Active, ColumnCall
from tidemark.columns.casts import cast
from tidemark.columns.literals import literal
from tidemark.columns.refusals import NotInColumns
from tidemark.columns.tables import WRITERS
from tidemark.columns.user_functions import user_call
from tidemark.functions.registry import UNKNOWN, Argument
from tidemark.functions.spark_text import safe_names
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
from tidemark.types import Boolean, DataType, Null, Row


@dataclass(frozen=True, slots=True)
class ColumnWriter:
    """Writes expressions over one input."""

    columns: tuple[str, ...]  # the names of the input's columns

    def write(self, expression: Expression, active: Active) -> pl.Expr:
        """The expression; only rows that are `active` may fail. Raises NotInColumns."""
        match expression:
            case Ref(index=index):
                return pl.col(self.columns[index])
            case Literal(value=value, type=type_):
                return literal(value, type_)
            case Call():
                return self._call(expression, active)
            case UserCall(function=function):
                args = tuple(self.write(arg, active) for arg in expression.args)
                types = tuple(arg.type for arg in expression.args)
                return user_call(function, args, types, expression.type, active)
            case Cast(operand=operand, type=type_, safe=safe):
                value = self.write(operand, active)
                return cast(value, operand.type, type_, active, safe=safe)
            case Case():
                return self._case(expression, active)
            case FieldAccess(operand=operand, name=name):
                field = _field_name(operand.type, name)
                return self.write(operand, active).struct.field(field)

    def _call(self, call: Call, active: Active) -> pl.Expr:
        lazy = LAZY.get(call.function.name)
        if lazy is not None:
            return lazy(self, call.args, active)
        write = WRITERS.get(call.function.name)
        if write is None:
            raise NotInColumns(call.function.name)
        arguments = tuple(
            Argument(arg.type, arg.value if isinstance(arg, Literal) else UNKNOWN)
            for arg in call.args
        )
        args = tuple(self.write(arg, active) for arg in call.args)
        untyped = any(isinstance(arg.type, Null) for arg in call.args)
        if untyped and call.function.strict and call.type.nullable:
            return literal(None, call.type)  # Polars computes nothing with an untyped NULL
        return write(ColumnCall(call.function, args, arguments, call.type, active))

    def _case(self, case: Case, active: Active) -> pl.Expr:
        return self.choice(case.branches, case.default, active)

    def choice(
        self,
        branches: tuple[tuple[Expression, Expression], ...],
        default: Expression,
        active: Active,
    ) -> pl.Expr:
        """The value of the first branch whose condition is true."""
        rest, written = active, []
        for condition, value in branches:
            holds = self.write(condition, rest).fill_null(False)
            written.append((holds, self.write(value, rest.where(holds))))
            rest = rest.where(~holds)
        result = self.write(default, rest)
        for holds, chosen in reversed(written):
            result = pl.when(holds).then(chosen).otherwise(result)
        return result


# --- functions that evaluate some arguments for some rows only ---------------------------------


def _and(writer: ColumnWriter, args: tuple[Expression, ...], active: Active) -> pl.Expr:
    left = writer.write(args[0], active)
    return _truth(left, args[0]) & _truth(
        writer.write(args[1], active.where(left.fill_null(True))), args[1]
    )


def _or(writer: ColumnWriter, args: tuple[Expression, ...], active: Active) -> pl.Expr:
    left = writer.write(args[0], active)
    return _truth(left, args[0]) | _truth(
        writer.write(args[1], active.where(~left.fill_null(False))), args[1]
    )


def _truth(condition: pl.Expr, of: Expression) -> pl.Expr:
    """An untyped NULL as the BOOLEAN that it stands for."""
    return condition if isinstance(of.type, Boolean) else condition.cast(pl.Boolean)


def _if(writer: ColumnWriter, args: tuple[Expression, ...], active: Active) -> pl.Expr:
    return writer.choice(((args[0], args[1]),), args[2], active)


def _coalesce(writer: ColumnWriter, args: tuple[Expression, ...], active: Active) -> pl.Expr:
    values = []
    for arg in args:
        values.append(writer.write(arg, active))
        active = active.where(values[-1].is_null())
    return pl.coalesce(*values) if len(values) > 1 else values[0]


LAZY = {"AND": _and, "OR": _or, "IF": _if, "COALESCE": _coalesce, "IFNULL": _coalesce}


def _field_name(row: DataType, name: str) -> str:
    assert isinstance(row, Row)
    names = [field.name for field in row.fields]
    return safe_names(names)[names.index(name)]
