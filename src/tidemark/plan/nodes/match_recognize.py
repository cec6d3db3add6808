"""MATCH_RECOGNIZE: one row for each match of a pattern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.kernels.match_recognize.spec import (
    ALL_ROWS,
    Alternatives,
    FirstOfKey,
    LastOfKey,
    One,
    PartsInOrder,
    RepeatedPart,
    Shape,
    Skip,
    VariableSubset,
)
from tidemark.plan import window_words
from tidemark.plan.expressions import Expression
from tidemark.plan.nodes.aggregate_call import AggregateCall
from tidemark.plan.nodes.base import Description, LateInput, Narrowed, delay_ms
from tidemark.plan.nodes.edge import Column, Edge
from tidemark.plan.nodes.families import ON_STATE, Stateful, Unary
from tidemark.plan.nodes.lateness import operator_words
from tidemark.plan.nodes.narrowing import whole
from tidemark.plan.nodes.needs import USUAL_TICK_MS, Needs, Port
from tidemark.plan.nodes.state import StateSpec, by_place, plain
from tidemark.plan.nodes.window_rank import WindowOrder
from tidemark.plan.words import words
from tidemark.types import DataType


@dataclass(frozen=True, slots=True)
class RowValue:
    """A column of one row of a variable: the `offset`-th from its first or its last one."""

    column: int
    variable: int
    first: bool = False
    offset: int = 0


@dataclass(frozen=True, slots=True)
class AggregateValue:
    """An aggregate over the rows of a variable."""

    call: AggregateCall
    variable: int


@dataclass(frozen=True, slots=True)
class MatchRowtime:
    """The time of a match, as a timestamp of this type."""

    type: DataType


@dataclass(frozen=True, slots=True)
class PreviousValue:
    """The value of the row that comes `back` rows before another one, in the match or before it; or
    after it, if that is negative.
    """

    of: RowValue
    back: int


@dataclass(frozen=True, slots=True)
class ClassifierValue:
    """Which of the variables a row is of."""

    names: tuple[str, ...]
    variable: int
    first: bool = False
    offset: int = 0


@dataclass(frozen=True, slots=True)
class MatchNumberValue:
    """The number of the match among those of its key."""


@dataclass(frozen=True, slots=True)
class OwnValue:
    """A column of the row that is emitted; of the first row if the match is empty."""

    column: int


@dataclass(frozen=True, slots=True)
class MatchedValue:
    """Whether the row is emitted for a match, and not because it is of none."""


RunningValue = RowValue | AggregateValue | PreviousValue | ClassifierValue


@dataclass(frozen=True, slots=True)
class FinalValue:
    """A value after the last row of the match, where all its rows are emitted."""

    value: RunningValue


MatchValue = RunningValue | MatchRowtime | MatchNumberValue | FinalValue | OwnValue | MatchedValue


@dataclass(frozen=True, slots=True)
class RowTest:
    """A condition over the row itself, computed before in a column."""

    column: int


@dataclass(frozen=True, slots=True)
class MatchTest:
    """A condition whose columns are values of the match so far."""

    values: tuple[RunningValue, ...]
    condition: Expression


@dataclass(frozen=True, slots=True)
class MatchVariable:
    """`least` to `most` rows (None: any number) that pass a test."""

    name: str
    least: int = 1
    most: int | None = 1
    greedy: bool = True
    test: RowTest | MatchTest | None = None

    def words(self) -> str:
        return self.name + _quantifier(self)


_QUANTIFIERS = {(1, 1): "", (0, 1): "?", (0, None): "*", (1, None): "+"}


def _quantifier(of: MatchVariable | RepeatedPart) -> str:
    quantifier = _QUANTIFIERS.get((of.least, of.most))
    if quantifier is None:
        most = "" if of.most is None else str(of.most)
        quantifier = f"{{{of.least}}}" if of.least == of.most else f"{{{of.least},{most}}}"
    return quantifier + ("" if of.greedy else "?")


def shape_words(shape: Shape, names: Sequence[str]) -> str:
    """The pattern as it may be written."""
    match shape:
        case One(variable, excluded):
            return f"{{- {names[variable]} -}}" if excluded else names[variable]
        case FirstOfKey():
            return "^"
        case LastOfKey():
            return "$"
        case PartsInOrder(parts):
            words_of = [shape_words(part, names) for part in parts]
            return " ".join(
                f"({each})" if isinstance(part, Alternatives) else each
                for each, part in zip(words_of, parts, strict=True)
            )
        case Alternatives(parts):
            return " | ".join(shape_words(part, names) for part in parts)
        case RepeatedPart(part):
            inside = shape_words(part, names)
            return (inside if isinstance(part, One) else f"({inside})") + _quantifier(shape)


def _has(shape: Shape, anchor: type[FirstOfKey | LastOfKey]) -> bool:
    match shape:
        case PartsInOrder(parts) | Alternatives(parts):
            return any(_has(part, anchor) for part in parts)
        case RepeatedPart(part):
            return _has(part, anchor)
    return isinstance(shape, anchor)


@dataclass(frozen=True)
class Match(Unary, Stateful):
    """One row for each match, or all its rows: the keys, then the values of `measures` with their
    columns.

    Rows are in the order of the column `time`, then of the columns in `order`. Without a `shape`
    the variables follow each other. Only with one, empty matches and rows of no match can be shown.
    """

    keys: tuple[int, ...]
    time: int
    order: tuple[WindowOrder, ...]
    variables: tuple[MatchVariable, ...]
    skip: Skip
    within_ms: int | None
    measures: tuple[tuple[Column, MatchValue], ...]
    shape: Shape | None = None
    subsets: tuple[VariableSubset, ...] = ()
    all_rows: bool = False
    shows_empty: bool = False
    shows_unmatched: bool = False

    def _edge(self) -> Edge:
        below = self.input.edge
        of_keys = [below.columns[key] for key in self.keys]
        columns = [Column(c.name, c.type) for c in of_keys]
        return Edge((*columns, *(column for column, _ in self.measures)), bounded=below.bounded)

    @property
    def processing_time(self) -> bool:
        return self.input.edge.columns[self.time].time == "processing"

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        return whole(self)

    def _description(self) -> Description:
        names = self.input.edge.names
        details = []
        if self.keys:
            details.append(f"key=[{', '.join(names[key] for key in self.keys)}]")
        order = ", ".join([names[self.time], *(by.words(names) for by in self.order)])
        details.append(f"order=[{order}]")
        within = ""
        if self.within_ms is not None:
            within = f" WITHIN {window_words.duration(self.within_ms)}"
        pattern = " ".join(variable.words() for variable in self.variables)
        if self.shape is not None:
            pattern = shape_words(self.shape, self._names)
        details.append(f"pattern=[{pattern}{within}]")
        tests = [f"{v.name} AS {self._test_words(v.test)}" for v in self.variables if v.test]
        details += [f"define=[{', '.join(tests)}]"] if tests else []
        measures = [f"{self._words(value)} AS {column.name}" for column, value in self.measures]
        details += [f"measures=[{', '.join(measures)}]"] if measures else []
        if self.all_rows or self.shows_empty:
            shown = ["all" if self.all_rows else "one"]
            shown += ["empty matches"] if self.shows_empty else []
            shown += ["unmatched rows"] if self.shows_unmatched else []
            details.append(f"rows=[{', '.join(shown)}]")
        details.append(f"after match=[{self._skip_words()}]")
        return Description("MatchRecognize", tuple(details), ON_STATE, self._keeps())

    def _keeps(self) -> str:
        waits = "" if self.processing_time else "rows until the watermark reaches them; "
        until = "until they match or fail"
        if self.within_ms is not None:
            until += f", at most {window_words.duration(self.within_ms)}"
        before = ""
        if self._back:
            rows = "the last row" if self._back == 1 else f"the last {self._back} rows"
            before = f"; {rows} of each key"
        before += "; the number of matches of each key" if self._numbers_matches else ""
        before += "; which rows of each key have matched" if self.shows_unmatched else ""
        if self._ahead:
            rows = "the last row" if self._ahead == 1 else f"the last {self._ahead} rows"
            waits += f"{rows} of each key until the next one comes; "
        return f"{waits}the rows of partial matches, {until}{before}"

    @property
    def _names(self) -> tuple[str, ...]:
        return (*(v.name for v in self.variables), *(subset.name for subset in self.subsets))

    @property
    def _offsets(self) -> list[int]:
        """How many rows conditions and measures look back, or ahead if that is negative."""
        values = [v.value if isinstance(v, FinalValue) else v for _, v in self.measures]
        for variable in self.variables:
            if isinstance(variable.test, MatchTest):
                values += variable.test.values
        return [value.back for value in values if isinstance(value, PreviousValue)]

    @property
    def _back(self) -> int:
        """How many rows the pattern, conditions and measures look back."""
        anchored = self.shape is not None and _has(self.shape, FirstOfKey)
        return max(int(anchored), *self._offsets, 0)

    @property
    def _ahead(self) -> int:
        """How many rows they look ahead."""
        anchored = self.shape is not None and _has(self.shape, LastOfKey)
        return max(int(anchored), *(-back for back in self._offsets), 0)

    @property
    def _numbers_matches(self) -> bool:
        return any(isinstance(value, MatchNumberValue) for _, value in self.measures)

    def _skip_words(self) -> str:
        if self.skip.variable is None:
            return f"skip {'to ' * (self.skip.to == 'next row')}{self.skip.to}"
        return f"skip to {self.skip.to} {self._names[self.skip.variable]}"

    def _test_words(self, test: RowTest | MatchTest) -> str:
        if isinstance(test, RowTest):
            return self.input.edge.names[test.column]
        return words(test.condition)

    def _words(self, value: MatchValue) -> str:
        match value:
            case MatchRowtime():
                return "MATCH_ROWTIME()"
            case MatchNumberValue():
                return "MATCH_NUMBER()"
            case MatchedValue():
                return "matched"
            case OwnValue(column):
                return self.input.edge.names[column]
            case FinalValue():
                return f"FINAL {self._words(value.value)}"
            case PreviousValue():
                beside = "PREV" if value.back >= 0 else "NEXT"
                return f"{beside}({self._words(value.of)}, {abs(value.back)})"
        names = self.input.edge.names
        of = "" if value.variable == ALL_ROWS else f"{self._names[value.variable]}."
        if isinstance(value, AggregateValue):
            return of + value.call.words(names)
        end = "FIRST" if value.first else "LAST"
        offset = f", {value.offset}" if value.offset else ""
        if isinstance(value, ClassifierValue):
            return f"{end}(CLASSIFIER({of.rstrip('.')}){offset})"
        return f"{end}({of}{names[value.column]}{offset})"

    @property
    def needs(self) -> Needs:
        clock = self.processing_time
        port = Port(self.keys, None if clock else self.time, True, processing_time=clock)
        tick_ms = USUAL_TICK_MS if clock and self.within_ms is not None else None
        return Needs("match-recognize", (port,), delay_ms(self.input), tick_ms)

    @property
    def state(self) -> StateSpec:
        below = self.input
        meaning = {
            "keys": below.origins(self.keys),
            "time": "processing" if self.processing_time else below.origin(self.time),
            "order": [{**plain(by), "column": below.origin(by.column)} for by in self.order],
            "pattern": plain(self.variables),
            "columns of conditions": [
                below.origin(v.test.column) for v in self.variables if isinstance(v.test, RowTest)
            ],
            "after match": plain(self.skip),
            "within milliseconds": self.within_ms,
            "held back in milliseconds": delay_ms(below),
        }
        return StateSpec(
            {**meaning, **self._further_meaning},
            (by_place(below.edge, range(len(below.edge.columns))),),
        )

    @property
    def _further_meaning(self) -> dict[str, Any]:
        """What only some patterns have: others mean what they have always meant."""
        further = {
            "alternatives and groups": plain(self.shape) if self.shape is not None else None,
            "subsets": plain(self.subsets),
            "rows before": self._back,
            "rows after": self._ahead,
            "shows empty matches": self.shows_empty,
            "shows unmatched rows": self.shows_unmatched,
            "numbers matches": self._numbers_matches,
        }
        return {name: value for name, value in further.items() if value}

    @property
    def why_rows_change(self) -> None:
        return None

    @property
    def can_be_stamped(self) -> bool:
        return not self.processing_time and self.input.can_be_stamped

    @property
    def own_delay_ms(self) -> int:
        return 0

    @property
    def late_inputs(self) -> tuple[LateInput, ...]:
        if self.processing_time:
            return ()
        described = operator_words("match-recognize", self.input, self.keys, None)
        behind = delay_ms(self.input)
        return (LateInput(self.input, described, self.time, held_back_ms=behind),)
