"""Functions of groups that emit rows, and aggregate functions by name."""

from pyflink.common import Row
from pyflink.table import DataTypes, EnvironmentSettings, ListView, TableEnvironment
from pyflink.table.expressions import call, col
from pyflink.table.udf import AggregateFunction, TableAggregateFunction, udaf, udtaf

t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
t_env.get_config().set("parallelism.default", "1")
orders = t_env.from_elements(
    [(1, "EUR", 10), (2, "USD", 20), (3, "EUR", 30), (4, "USD", 5), (5, "EUR", 20)],
    DataTypes.ROW(
        [
            DataTypes.FIELD("id", DataTypes.INT()),
            DataTypes.FIELD("currency", DataTypes.STRING()),
            DataTypes.FIELD("amount", DataTypes.BIGINT()),
        ]
    ),
)


def show(table, *keys):
    """All rows at the end: how often a group is emitted before is up to PyFlink."""
    print(table.to_pandas().sort_values([*keys]).to_string(index=False))


# --- functions that emit rows for groups -------------------------------------------------------


class Largest(TableAggregateFunction):
    """The largest two amounts, and their ranks."""

    def create_accumulator(self):
        return [None, None]

    def accumulate(self, accumulator, row):
        amount = row[0]
        if accumulator[0] is None or amount > accumulator[0]:
            accumulator[:] = [amount, accumulator[0]]
        elif accumulator[1] is None or amount > accumulator[1]:
            accumulator[1] = amount

    def emit_value(self, accumulator):
        for rank, amount in enumerate(accumulator):
            if amount is not None:
                yield Row(amount, rank)

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.BIGINT())

    def get_result_type(self):
        return DataTypes.ROW(
            [
                DataTypes.FIELD("largest", DataTypes.BIGINT()),
                DataTypes.FIELD("place", DataTypes.INT()),
            ]
        )


amounts = orders.select(orders.amount, orders.currency)
by_currency = amounts.group_by(amounts.currency)
show(
    by_currency.flat_aggregate(udtaf(Largest())).select(
        col("currency"), col("largest"), col("place")
    ),
    "currency",
    "place",
)
show(
    by_currency.flat_aggregate(udtaf(Largest()).alias("a", "b")).select(col("a"), amounts.currency),
    "currency",
    "a",
)
show(amounts.flat_aggregate(udtaf(Largest())).select(col("place"), col("largest")), "place")


class Listed(TableAggregateFunction):
    """What is given, as one string, for each of the separators."""

    def create_accumulator(self):
        return Row(ListView(), "")

    def accumulate(self, accumulator, value, separators):
        accumulator[0].add(str(value))
        accumulator[1] = separators

    def emit_value(self, accumulator):
        for separator in accumulator[1]:
            yield Row(separator.join(accumulator[0]))

    def get_accumulator_type(self):
        return DataTypes.ROW(
            [
                DataTypes.FIELD("f0", DataTypes.LIST_VIEW(DataTypes.STRING())),
                DataTypes.FIELD("f1", DataTypes.STRING()),
            ]
        )

    def get_result_type(self):
        return DataTypes.ROW([DataTypes.FIELD("list", DataTypes.STRING())])


t_env.create_temporary_function("listed", Listed())
lists = orders.group_by(orders.currency).flat_aggregate(call("listed", col("id"), "+,").alias("l"))
show(lists.select(col("currency"), col("l")), "currency", "l")


# --- aggregate functions that are registered as they are ---------------------------------------


class Weighted(AggregateFunction):
    def create_accumulator(self):
        return [0, 0]

    def accumulate(self, accumulator, value, weight):
        accumulator[0] += value * weight
        accumulator[1] += weight

    def get_value(self, accumulator):
        return accumulator[0] / accumulator[1] if accumulator[1] else None

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.BIGINT())

    def get_result_type(self):
        return DataTypes.DOUBLE()


t_env.create_temporary_function("weighted", Weighted())
show(
    orders.group_by(orders.currency).select(
        orders.currency, call("weighted", orders.amount, orders.id), orders.amount.sum
    ),
    "currency",
)
show(
    orders.group_by(orders.currency).select(
        udaf(Weighted())(orders.id, orders.amount), call("COUNT", orders.id), orders.currency
    ),
    "currency",
)
print(t_env.list_user_defined_functions())
