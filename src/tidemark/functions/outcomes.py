"""Functions in Python that may fail: a failure is a value, until Spark asks for the result.

Spark calls a Python function for all rows of a batch, also for those for which a CASE takes
another branch or an AND is false before it. So the function may not fail by itself. It gives a
ROW of the value and of why there is none, and the expression that asks for the value fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.functions.spark_text import bound

if TYPE_CHECKING:
    import pyarrow as pa


def outcome_type(value: t.DataType) -> t.Row:
    """What a function that gives such values gives with `Outcomes`."""
    fields = (t.Field("value", value.with_nullable(True)), t.Field("failure", t.STRING))
    return t.Row(fields)


def value_of(call: str) -> str:
    """The value that the call of an `Outcomes` gives; its failure fails the job."""
    return bound(call, lambda o: f"if({o}.failure IS NULL, {o}.value, raise_error({o}.failure))")


@dataclass(frozen=True, slots=True)
class Outcomes:
    """A kernel over Arrow columns whose ValueErrors are values of the rows that cause them."""

    kernel: Callable[..., pa.Array]

    def __call__(self, *columns: pa.Array) -> pa.Array:
        import pyarrow as pa

        return pa.concat_arrays(self._outcomes(columns))

    def _outcomes(self, columns: tuple[pa.Array, ...]) -> list[pa.Array]:
        """Those of all rows at once; of one half after the other where a row spoils the rest."""
        import pyarrow as pa

        rows = len(columns[0])
        try:
            return [_outcome(self.kernel(*columns), pa.nulls(rows, pa.string()))]
        except ValueError as problem:
            if rows == 1:
                nothing = self.kernel(*(column[:0] for column in columns))
                return [_outcome(pa.nulls(1, nothing.type), pa.array([str(problem)]))]
        half = rows // 2
        first = self._outcomes(tuple(column[:half] for column in columns))
        return [*first, *self._outcomes(tuple(column[half:] for column in columns))]


def _outcome(values: pa.Array, failures: pa.Array) -> pa.Array:
    import pyarrow as pa

    return pa.StructArray.from_arrays([values, failures], ["value", "failure"])
