"""Aggregate functions that return several columns, for groups, windows and whole tables."""

from pyflink.common import Row
from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import col
from pyflink.table.udf import AggregateFunction, udaf, udf


class CountAndSum(AggregateFunction):
    """Of the column b of whole rows."""

    def create_accumulator(self):
        return Row(0, 0)

    def accumulate(self, accumulator, row):
        accumulator[0] += 1
        accumulator[1] += row.b

    def retract(self, accumulator, row):
        accumulator[0] -= 1
        accumulator[1] -= row.b

    def merge(self, accumulator, accumulators):
        for other in accumulators:
            accumulator[0] += other[0]
            accumulator[1] += other[1]

    def get_value(self, accumulator):
        return Row(accumulator[0], accumulator[1])

    def get_accumulator_type(self):
        return DataTypes.ROW(
            [DataTypes.FIELD("a", DataTypes.BIGINT()), DataTypes.FIELD("b", DataTypes.BIGINT())]
        )

    def get_result_type(self):
        return DataTypes.ROW(
            [DataTypes.FIELD("n", DataTypes.BIGINT()), DataTypes.FIELD("total", DataTypes.BIGINT())]
        )


two = DataTypes.ROW(
    [DataTypes.FIELD("mean", DataTypes.DOUBLE()), DataTypes.FIELD("most", DataTypes.BIGINT())]
)
mean_and_most = udaf(lambda b: (b.mean(), b.max()), result_type=two, func_type="pandas")
of_frame = udaf(lambda pd: (pd.b.mean(), pd.b.max()), result_type=two, func_type="pandas")
function = CountAndSum()
count_and_sum = udaf(
    function,
    result_type=function.get_result_type(),
    accumulator_type=function.get_accumulator_type(),
    name="count_and_sum",
)

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
rows = t_env.from_elements([("x", 1), ("y", 2), ("x", 3), ("x", 5)], ["a", "b"])
groups = rows.group_by(col("a"))

groups.aggregate(mean_and_most(col("b")).alias("c", "d")).select(
    col("a"), col("c"), col("d")
).order_by(col("a")).execute().print()
groups.aggregate(of_frame.alias("c", "d")).select(col("d"), col("a")).order_by(
    col("a")
).execute().print()
rows.aggregate(mean_and_most(col("b")).alias("c", "d")).select(col("c"), col("d")).execute().print()


@udf(result_type=two, func_type="pandas")
def doubled(frame):
    import pandas

    return pandas.concat([frame.b * 0.5, frame.b + 1], axis=1, keys=["half", "next"])


rows.map(doubled.alias("h", "n")).execute().print()
