"""Functions of Python in queries of the Table API."""

from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import call, col
from pyflink.table.udf import udf, udtf

t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
t_env.get_config().set("parallelism.default", "1")
ORDER = DataTypes.ROW(
    [
        DataTypes.FIELD("id", DataTypes.INT()),
        DataTypes.FIELD("shop", DataTypes.STRING()),
        DataTypes.FIELD("amount", DataTypes.DOUBLE()),
    ]
)
orders = t_env.from_elements(
    [(1, "harbor", 5.0), (2, "harbor", 7.5), (3, "beach", 2.5), (4, None, 1.0)], ORDER
)
shops = t_env.from_elements(
    [("harbor", "north"), ("beach", "south"), ("pier", "west")], ["name", "side"]
)


def show(table):
    table.print_schema()
    for row in sorted(map(str, table.execute().collect())):
        print(row)


@udf(result_type=DataTypes.INT())
def doubled(x):
    return x * 2


@udtf(result_types=[DataTypes.STRING(), DataTypes.INT()])
def letters(text, most):
    for place, letter in enumerate((text or "")[:most]):
        yield letter, place


show(orders.select(doubled(col("id")).alias("twice")).where(col("twice") > 4))
show(orders.where(doubled(col("id")) == 4).select(col("id")))
show(
    orders.join_lateral(letters(col("shop"), 2).alias("letter", "place")).select(
        col("id"), col("letter")
    )
)
show(
    orders.left_outer_join_lateral(letters(col("shop"), 1).alias("letter", "place")).select(
        col("id"), col("letter")
    )
)
show(orders.flat_map(letters(col("shop"), 1)).alias("letter", "place"))
t_env.create_temporary_system_function("half", udf(lambda x: x / 2, result_type=DataTypes.DOUBLE()))
show(orders.select(call("half", col("amount")).alias("half")))
t_env.create_temporary_view("big", orders.where(col("amount") > 4))
show(t_env.sql_query(f"SELECT b.id, o.shop FROM big AS b JOIN {orders} AS o ON b.id = o.id"))
