# mypy: ignore-errors
# ruff: noqa
"""A module as people write it for PyFlink, which also is a program for PyFlink."""

from pyflink.common import Row
from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment, ListView, MapView
from pyflink.table.expressions import col, lit
from pyflink.table.udf import (
    udf,
    udtf,
    udaf,
    ScalarFunction,
    TableFunction,
    AggregateFunction,
    FunctionContext,
)


@udf(input_types=[DataTypes.BIGINT(), DataTypes.BIGINT()], result_type=DataTypes.BIGINT())
def add(i, j):
    return None if i is None or j is None else i + j


class HashCode(ScalarFunction):
    def __init__(self):
        self.factor = None

    def open(self, function_context: FunctionContext):
        self.factor = int(function_context.get_job_parameter("factor", "12"))

    def eval(self, s):
        return sum(map(ord, s)) * self.factor


hash_code = udf(HashCode(), result_type=DataTypes.INT())
sub_one = udf(lambda i: i - 1, result_type="BIGINT")


@udf(result_type=DataTypes.DOUBLE(), func_type="pandas")
def half(x):
    return x / 2


class Plain:
    def __call__(self, i):
        return -i


negated = udf(Plain(), result_type=DataTypes.BIGINT().not_null())


@udf(
    result_type=DataTypes.ROW(
        [DataTypes.FIELD("a", DataTypes.INT()), DataTypes.FIELD("b", DataTypes.STRING())]
    )
)
def pair(i):
    return Row(a=i, b=str(i))


@udtf(result_types=[DataTypes.STRING(), DataTypes.INT()])
def split(s):
    if s is None:
        return
    for w in s.split(" "):
        yield w, len(w)


class One(TableFunction):
    def eval(self, s):
        return [x for x in s.split()]


words = udtf(One(), result_types=DataTypes.STRING())


class WeightedAvg(AggregateFunction):
    def create_accumulator(self):
        return Row(0, 0)

    def get_value(self, accumulator):
        return None if accumulator[1] == 0 else accumulator[0] / accumulator[1]

    def accumulate(self, accumulator, value, weight):
        accumulator[0] += value * weight
        accumulator[1] += weight

    def retract(self, accumulator, value, weight):
        accumulator[0] -= value * weight
        accumulator[1] -= weight

    def get_result_type(self):
        return DataTypes.DOUBLE()

    def get_accumulator_type(self):
        return DataTypes.ROW(
            [DataTypes.FIELD("f0", DataTypes.BIGINT()), DataTypes.FIELD("f1", DataTypes.BIGINT())]
        )


weighted = udaf(WeightedAvg())


@udaf(result_type=DataTypes.DOUBLE(), func_type="pandas")
def mean(v):
    return v.mean()


class Spread(AggregateFunction):
    """For pandas, as a class."""

    def create_accumulator(self):
        return []

    def accumulate(self, accumulator, v):
        accumulator.append(v.max() - v.min())

    def get_value(self, accumulator):
        return accumulator[0]


spread = udaf(Spread(), result_type=DataTypes.BIGINT(), func_type="pandas")


class Distinct(AggregateFunction):
    def create_accumulator(self):
        return [ListView(), MapView()]

    def accumulate(self, accumulator, v):
        if v not in accumulator[1]:
            accumulator[0].add(v)
        accumulator[1][v] = True

    def get_value(self, accumulator):
        return ",".join(accumulator[0])

    def get_result_type(self):
        return "STRING"

    def get_accumulator_type(self):
        return DataTypes.ROW(
            [
                DataTypes.FIELD("f0", DataTypes.LIST_VIEW(DataTypes.STRING())),
                DataTypes.FIELD("f1", DataTypes.MAP_VIEW(DataTypes.STRING(), DataTypes.BOOLEAN())),
            ]
        )


distinct = udaf(Distinct())

if __name__ == "__main__":
    TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
