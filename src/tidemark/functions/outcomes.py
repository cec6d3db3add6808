"""Python functions that may fail: a failure is a value until Spark uses the result.

Spark calls a Python function for all rows of a batch, even for those for which a CASE takes another
branch or an earlier operand of AND is false. So the function must not fail itself. It returns a ROW
of the value and the failure, and the expression that takes the value out fails.
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
    """The result type of a function wrapped in `Outcomes`."""
    fields = (t.Field("value", value.with_nullable(True)), t.Field("failure", t.STRING))
    return t.Row(fields)


def value_of(call: str) -> str:
    """The value in the result of an `Outcomes` call; its failure fails the job."""
    return bound(call, lambda o: f"if({o}.failure IS NULL, {o}.value, raise_error({o}.failure))")


@dataclass(frozen=True, slots=True)
class Outcomes:
    """A kernel over Arrow columns whose ValueErrors become values of the rows that cause them."""

    kernel: Callable[..., pa.Array]

    def __call__(self, *columns: pa.Array) -> pa.Array:
        import pyarrow as pa

        return pa.concat_arrays(self._outcomes(columns))

    def _outcomes(self, columns: tuple[pa.Array, ...]) -> list[pa.Array]:
        """The results of all rows at once, or of each half separately if a row fails the rest."""
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
