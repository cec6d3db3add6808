"""The kernel of MATCH_RECOGNIZE, over input columns of given names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.errors import NotSupported
from tidemark.kernels.match_recognize import spec
from tidemark.operators.aggregate_calls import calls_of
from tidemark.plan.nodes import (
    ClassifierValue,
    FinalValue,
    MatchedValue,
    MatchNumberValue,
    MatchRowtime,
    MatchTest,
    OwnValue,
    PreviousValue,
    RowTest,
    RowValue,
)

if TYPE_CHECKING:
    import datetime as dt

    import polars as pl

    from tidemark.columns import Program
    from tidemark.kernels.match_recognize.kernel import MatchRecognizeKernel
    from tidemark.plan.nodes import Match, MatchValue, RunningValue


def match_recognize_kernel(
    node: Match,
    keys: tuple[str, ...],
    names: Sequence[str],
    zone: str,
    now: dt.datetime,
) -> MatchRecognizeKernel:
    """`zone` and `now` are the session's, for conditions that ask for the time."""
    from tidemark.kernels.match_recognize.kernel import MatchRecognizeKernel
    from tidemark.kernels.order import Order

    return MatchRecognizeKernel(
        keys,
        tuple(
            spec.Variable(
                variable.name,
                _condition(variable.test, names, zone, now),
                variable.least,
                variable.most,
                variable.greedy,
            )
            for variable in node.variables
        ),
        node.skip,
        tuple(
            (measure_name(place), _value(value, names))
            for place, (_, value) in enumerate(node.measures)
        ),
        node.within_ms,
        tuple(Order(names[by.column], by.descending, by.nulls_last) for by in node.order),
        processing_time=node.processing_time,
        shape=node.shape,
        subsets=node.subsets,
        all_rows=node.all_rows,
        shows_empty=node.shows_empty,
        shows_unmatched=node.shows_unmatched,
    )


def measure_name(place: int) -> str:
    """What the column of a measure is called."""
    return f"_tm_out{place}"


@dataclass(frozen=True, slots=True)
class _Holds:
    """A condition that is computed by a program."""

    program: Program

    def __call__(self, values: pl.DataFrame) -> pl.Series:
        return self.program.over(values, ["holds"])["holds"]


def _condition(
    test: RowTest | MatchTest | None, names: Sequence[str], zone: str, now: dt.datetime
) -> spec.Condition | None:
    from tidemark.columns import NotInColumns, Program

    if test is None:
        return None
    if isinstance(test, RowTest):
        return spec.RowCondition(names[test.column])
    values = tuple(_match_value(value, names) for value in test.values)
    columns = [spec.value_name(place) for place in range(len(values))]
    try:
        program = Program.of([test.condition], columns, zone, now)
    except NotInColumns as refused:
        raise NotSupported(
            f"{refused.what} is not supported in a condition of DEFINE over several rows yet",
            notes={"why": "the condition runs inside the operator, which does not know it"},
            hint="compute it as a column in a subquery in front of MATCH_RECOGNIZE",
        ) from None
    return spec.MatchCondition(values, _Holds(program))


def _value(value: MatchValue, names: Sequence[str]) -> spec.Value:
    match value:
        case MatchRowtime():
            return spec.MatchTime("UTC" if isinstance(value.type, t.TimestampLtz) else None)
        case MatchNumberValue():
            return spec.MatchNumber()
        case MatchedValue():
            return spec.IsMatched()
        case OwnValue(column):
            return spec.OwnColumn(names[column])
        case FinalValue():
            return spec.OfMatch(_match_value(value.value, names))
    return _match_value(value, names)


def _match_value(value: RunningValue, names: Sequence[str]) -> spec.RunningValue:
    match value:
        case RowValue():
            return spec.Pick(names[value.column], value.variable, value.first, value.offset)
        case PreviousValue(of, back):
            return spec.Pick(names[of.column], of.variable, of.first, of.offset, back)
        case ClassifierValue():
            return spec.Classifier(value.names, value.variable, value.first, value.offset)
    [call] = calls_of([value.call], names)
    return spec.Total(call, value.variable)
