"""Fields of rows by their places, rows as columns, and what is appended to strings."""

from pyflink.common import Row
from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import col, row

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
address = DataTypes.ROW(
    [DataTypes.FIELD("city", DataTypes.STRING()), DataTypes.FIELD("code", DataTypes.INT())]
)
people = t_env.from_elements(
    [(1, "ann", Row("Rome", 184)), (2, "bob", Row("Oslo", 150)), (3, None, None)],
    DataTypes.ROW(
        [
            DataTypes.FIELD("id", DataTypes.INT()),
            DataTypes.FIELD("name", DataTypes.STRING()),
            DataTypes.FIELD("home", address),
        ]
    ),
)
home = col("home")

people.select(people.id, home.get(0), home.get(1).alias("c")).execute().print()
people.select(home.flatten, people.id).execute().print()
people.select(people.id.flatten).execute().print()
people.select(home.get(0) + "!", (home.get(1) + 1).alias("n")).execute().print()
people.select(people.name.upper_case + "-" + people.id, abs(people.id - 2)).execute().print()
people.group_by(people.id).select(people.name.max + "?").order_by(col("_c0")).execute().print()

# Elements may be expressions.
typed = DataTypes.ROW(
    [DataTypes.FIELD("a", DataTypes.INT()), DataTypes.FIELD("b", DataTypes.DOUBLE())]
)
t_env.from_elements([row(1, 2.5), row(3, 4.0)], typed).execute().print()
