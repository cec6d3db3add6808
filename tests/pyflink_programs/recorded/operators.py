"""Operators, and the names of columns that have no alias."""

from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import col, lit, not_

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
pair = DataTypes.ROW(
    [DataTypes.FIELD("p", DataTypes.STRING()), DataTypes.FIELD("q", DataTypes.INT())]
)
rows = t_env.from_elements(
    [
        ("ab", True, 1, 0.5, ("x", 5)),
        ("", None, 2, -1.5e-7, ("y", None)),
        (None, False, None, None, None),
    ],
    DataTypes.ROW(
        [
            DataTypes.FIELD("s", DataTypes.STRING()),
            DataTypes.FIELD("b", DataTypes.BOOLEAN()),
            DataTypes.FIELD("i", DataTypes.INT()),
            DataTypes.FIELD("d", DataTypes.DOUBLE()),
            DataTypes.FIELD("r", pair),
        ]
    ),
)
s, b, i, d, r = (col(name) for name in "sbidr")

# What is appended to a string, and what is true of NULL.
rows.select(s + s, s + i, s + "y" + 1, s.upper_case, i + 1, i + d, 1 + i).execute().print()
rows.select(~b, not_(b), ~(i > 1), b & ~b, b | ~b).execute().print()
rows.where(~(i > 1)).select(i).execute().print()
rows.select(i - 1, 10 - i, i * 2, 7 / i, i % 2, -i, i**2, d / 2).execute().print()
rows.select(i == 1, i != 1, i < 2, i <= 1, i > 1, i >= 2, s == "ab").execute().print()

# Names
rows.select(
    i.cast(DataTypes.STRING()), d.cast(DataTypes.DECIMAL(10, 2)), (i + 1).cast(DataTypes.BIGINT())
).execute().print()
rows.select(r.get("p"), r.q, r.get("q") + 1, i, lit(2.5), lit(1e300), lit(-3e-5)).execute().print()
rows.select(
    i.sum0, d.percentile(0.5), d.percentile(lit(0.25)), i.count, i.max + 1
).execute().print()
dates = t_env.from_elements([("2024-1-2", "2024-01-02 03:04:05.5", "3:04:05")], ["a", "b", "c"])
dates.select(col("a").to_date, col("b").to_timestamp, col("c").to_time).execute().print()
