"""Scalar expressions as Spark SQL, safe whatever names and values the user chose."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import Any

from tidemark import types as t
from tidemark.functions import spark_text
from tidemark.functions.casts import write_cast
from tidemark.functions.outcomes import Outcomes, outcome_type
from tidemark.functions.registry import UNKNOWN, Argument, SparkCall, python_name
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
from tidemark.spark.types import spark_type


@dataclass(frozen=True, slots=True)
class PythonFunction:
    """A Python function that the SQL calls by `name`; it must be registered with Spark first."""

    name: str
    implementation: Any
    returns: t.DataType
    vectorized: bool
    deterministic: bool


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes expressions over one input. `python` collects the functions that the SQL calls."""

    columns: tuple[str, ...]  # the input's Spark names
    zone: str
    python: dict[str, PythonFunction] = field(default_factory=dict)

    def write(self, expression: Expression) -> str:
        match expression:
            case Ref(index=index):
                return spark_text.name(self.columns[index])
            case Literal(value=value, type=type_):
                return literal(value, type_)
            case Call():
                return self._call(expression)
            case UserCall():
                return self._user_call(expression)
            case Cast(operand=operand, type=type_, safe=safe):
                text = self.write(operand)
                return write_cast(text, operand.type, type_, safe=safe, zone=self.zone)
            case Case():
                return self._case(expression)
            case FieldAccess(operand=operand, name=name):
                return f"{self.write(operand)}.{spark_text.name(field_name(operand.type, name))}"

    def _call(self, call: Call) -> str:
        arguments = tuple(
            Argument(arg.type, arg.value if isinstance(arg, Literal) else UNKNOWN)
            for arg in call.args
        )
        function = call.function
        if function.python is not None:
            kernel, returns = function.python, call.type
            if function.may_fail:
                kernel, returns = Outcomes(kernel), outcome_type(returns)
            name = python_name(function.name)
            self.python[name] = PythonFunction(name, kernel, returns, True, function.deterministic)
        operands = tuple(self.write(arg) for arg in call.args)
        return function.write(SparkCall(operands, arguments, call.type, self.zone))

    def _user_call(self, call: UserCall) -> str:
        function = call.function
        # One name for each implementation: a function may be dropped and created again.
        name = f"tidemark_user_{id(function.implementation):x}"
        self.python[name] = PythonFunction(
            name,
            function.implementation,
            call.type,
            function.vectorized,
            function.deterministic,
        )
        return f"{name}({', '.join(self.write(arg) for arg in call.args)})"

    def _case(self, case: Case) -> str:
        branches = " ".join(
            f"WHEN {self.write(condition)} THEN {self.write(value)}"
            for condition, value in case.branches
        )
        return f"CASE {branches} ELSE {self.write(case.default)} END"


def field_name(row: t.DataType, name: str) -> str:
    """The name of a ROW's field in Spark."""
    assert isinstance(row, t.Row)
    names = [field.name for field in row.fields]
    return spark_text.safe_names(names)[names.index(name)]


# --- constants ---------------------------------------------------------------------------------


def literal(value: Any, type_: t.DataType) -> str:
    """A constant of a Flink type as a constant of the corresponding Spark type."""
    if value is None:
        return "NULL" if isinstance(type_, t.Null) else f"CAST(NULL AS {spark_type(type_)})"
    match type_:
        case t.Boolean():
            return "TRUE" if value else "FALSE"
        case t.Char() | t.VarChar() | t.KeywordType():
            return spark_text.string(value)
        case t.Binary() | t.VarBinary():
            return spark_text.binary(value)
        case t.Date():
            return f"DATE '{value.isoformat()}'"
        case t.Time():
            return f"TIME '{value.isoformat()}'"
        case t.Timestamp():
            return f"TIMESTAMP_NTZ '{value.isoformat(sep=' ')}'"
        case t.DayTimeInterval():
            return _day_time(value)
        case t.YearMonthInterval():
            sign = "-" if value < 0 else ""
            return f"INTERVAL '{sign}{abs(value) // 12}-{abs(value) % 12}' YEAR TO MONTH"
    return f"CAST('{value}' AS {spark_type(type_)})"


def _day_time(milliseconds: int) -> str:
    length = dt.timedelta(milliseconds=abs(milliseconds))
    hours, rest = divmod(length.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    clock = f"{hours:02}:{minutes:02}:{seconds:02}.{length.microseconds // 1000:03}"
    sign = "-" if milliseconds < 0 else ""
    return f"INTERVAL '{sign}{length.days} {clock}' DAY TO SECOND"
