"""One aggregate call over one kind of input: where its functions find values."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from tidemark.kernels.aggregates.accumulators import AT, SIGN, VALUE, Accumulator, Merge
from tidemark.kernels.aggregates.values_apart import change_name, is_sum
from tidemark.kernels.columns import SEQUENCE
from tidemark.kernels.windows.spec import AggregateSpec


@dataclass(frozen=True, slots=True)
class Aggregate:
    """The accumulators of a call, and the expression that computes its result from them."""

    accumulators: tuple[Accumulator, ...]
    result: pl.Expr


@dataclass(frozen=True, slots=True)
class AggregateScope:
    """A call, with `retracts` if rows can be retracted. Items of lists are in order of arrival
    if `by_arrival`, otherwise in the order in which groups were merged. Without `merges`,
    groups are not merged. With `with_changes`, rows have the changes of their distinct values;
    with `with_extremes`, the extremes of values that may be retracted.
    """

    call: AggregateSpec
    retracts: bool
    by_arrival: bool
    merges: bool = True
    with_changes: bool = False
    with_extremes: bool = False

    @property
    def of_changes(self) -> bool:
        """Whether the call adds up the changes of distinct values instead of keeping them."""
        return self.with_changes and is_sum(self.call)

    @property
    def of_extremes(self) -> bool:
        """Whether the call is an extreme that is given instead of found among kept values."""
        extreme = self.call.function in ("MIN", "MAX") and self.call.implementation is None
        return self.with_extremes and self.retracts and extreme

    @property
    def change(self) -> pl.Expr:
        """1 if the row adds a value that its group did not have, -1 if it removes one."""
        return pl.col(change_name(self.call.arguments, self.call.filter))

    @property
    def value(self) -> pl.Expr:
        """The argument; NULL if the filter excludes the row. Several are a struct."""
        return self._passing(self.argument)

    @property
    def argument(self) -> pl.Expr:
        columns = [pl.col(name) for name in self.call.arguments]
        if len(columns) == 1:
            return columns[0]
        complete = pl.all_horizontal(column.is_not_null() for column in columns)
        return pl.when(complete).then(pl.struct(columns))

    def _passing(self, value: pl.Expr) -> pl.Expr:
        return value if self.call.filter is None else pl.when(self.passes).then(value)

    @property
    def passes(self) -> pl.Expr:
        return pl.lit(True) if self.call.filter is None else pl.col(self.call.filter)

    def signed(self, number: pl.Expr) -> pl.Expr:
        """The number, negated in retracted rows."""
        return (
            pl.when(pl.col(SIGN) > 0).then(number).otherwise(-number) if self.retracts else number
        )

    @property
    def summarizes(self) -> bool:
        """Whether results are only computed row by row, so that summaries of lists are enough."""
        return not self.merges

    def keep(self, what: str, lift: pl.Expr, how: Merge) -> Accumulator:
        """An accumulator with a name that identifies it: equal ones are kept once."""
        names = ",".join(self.call.arguments)
        where = "" if self.call.filter is None else f"?{self.call.filter}"
        what = f"{what} distinct" if self.of_changes else what
        name = f"_tm_{what}({names}){where}"
        return Accumulator(name, lift, how, of_changes=self.of_changes)

    def values(
        self,
        lifted: pl.Expr | None = None,
        name: str = "items",
        *,
        nulls: bool = False,
        ordered: bool = True,
    ) -> tuple[Accumulator, pl.Expr]:
        """All values, or all distinct ones, as a list; and the accumulators needed.

        `lifted` is kept instead of the argument, under a name of its own; `nulls` too if requested.
        If order does not matter, values need not be kept twice.
        """
        value = self.argument if lifted is None else lifted
        wanted = self.passes if nulls else self.passes & value.is_not_null()
        name = f"{name} and nulls" if nulls else name
        if self.call.distinct and not (ordered or self.retracts):
            lift = pl.when(wanted).then(_alone(value))
            kept = self.keep("set", lift, Merge.SET)
            return kept, pl.col(kept.name)
        fields = [pl.col(SEQUENCE).alias(AT), value.alias(VALUE)]
        if self.retracts:
            fields.append(pl.col(SIGN).alias(SIGN))
        how = Merge.LEDGER if self.retracts else Merge.LIST
        kept = self.keep(name, pl.when(wanted).then(pl.concat_list(pl.struct(fields))), how)
        return kept, self._given_out(pl.col(kept.name))

    def item(self, how: Merge) -> Accumulator:
        """The value of one row, with its position in the sequence."""
        item = pl.struct(pl.col(SEQUENCE).alias(AT), self.argument.alias(VALUE))
        lift = pl.when(self.passes & self.argument.is_not_null()).then(item)
        return self.keep(how.value, lift, how)

    def _given_out(self, items: pl.Expr) -> pl.Expr:
        item = pl.element()
        if self.retracts:
            item = item.filter(item.struct.field(SIGN) > 0)
        if self.by_arrival:
            item = item.sort_by(item.struct.field(AT))
        values = items.list.eval(item.struct.field(VALUE))
        return values.list.unique(maintain_order=True) if self.call.distinct else values


def _alone(value: pl.Expr) -> pl.Expr:
    """A list of each value. `concat_list` alone would return a value that is a list itself."""
    wrapped = pl.concat_list(pl.struct(value.alias(VALUE)))
    return wrapped.list.eval(pl.element().struct.field(VALUE))
