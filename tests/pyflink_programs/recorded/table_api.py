"""Queries of the Table API, and the names and types of their columns."""

from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import (
    and_,
    call,
    coalesce,
    col,
    concat,
    if_then_else,
    lit,
    not_,
    null_of,
    or_,
)

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
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


show(orders.select(col("id"), col("amount") * 2, (col("amount") + 1).alias("more"), lit("x")))
show(orders.select(orders.id, orders.shop.upper_case.alias("SHOP"), col("shop").char_length))
show(orders.where(col("shop") == "harbor").filter(col("amount") > 6))
show(orders.filter(or_(col("id") == 1, and_(col("id") >= 3, not_(col("shop").is_null)))))
show(
    orders.where((col("id") < 2) | (col("id").in_(3, 9)) & ~(col("amount") > 100)).select(col("id"))
)
show(
    orders.select(
        col("shop").is_null.alias("a"),
        coalesce(col("shop"), "none").alias("b"),
        if_then_else(col("id") > 2, "late", "early").alias("c"),
        col("amount").cast(DataTypes.INT()).alias("d"),
        null_of(DataTypes.INT()).alias("e"),
        concat(col("shop"), "-", "x").alias("f"),
        col("id").between(2, 3).alias("g"),
        call("UPPER", col("shop")).alias("h"),
        (-col("id") % 3).alias("i"),
    )
)
show(
    orders.select(
        col("shop").substring(1, 3).alias("a"),
        col("shop").like("%ar%").alias("b"),
        col("shop").replace("a", "o").alias("c"),
        col("shop").trim().alias("d"),
        col("shop").position("harbor").alias("e"),
        col("amount").round(0).alias("f"),
        col("amount").sqrt.round(3).alias("g"),
        col("shop").lpad(8, "*").alias("h"),
        (lit(1) + col("id")).alias("i"),
        (2 - col("id")).alias("j"),
        col("amount").floor().alias("k"),
    )
)
show(
    orders.group_by(col("shop")).select(
        col("shop"),
        col("amount").sum.alias("total"),
        col("id").count,
        col("id").max.alias("last"),
        col("amount").avg.alias("mean"),
    )
)
show(
    orders.group_by(col("shop")).select(
        col("id").count.distinct.alias("n"), col("amount").sum0.alias("s")
    )
)
show(orders.select(col("amount").max, col("amount").min.alias("least")))
show(orders.select(col("shop")).distinct())
show(orders.alias("a", "b", "c"))
show(orders.add_columns((col("id") + 1).alias("next")))
show(orders.add_or_replace_columns((col("id") * 10).alias("id")))
show(orders.rename_columns(col("id").alias("number")))
show(orders.drop_columns(col("amount")))
show(orders.join(shops).where(col("shop") == col("name")).select(col("id"), col("side")))
show(orders.join(shops, col("shop") == col("name")))
show(orders.left_outer_join(shops, col("shop") == col("name")).select(col("id"), col("side")))
show(orders.right_outer_join(shops, col("shop") == col("name")).select(col("id"), col("name")))
show(orders.full_outer_join(shops, col("shop") == col("name")).select(col("id"), col("name")))
names = orders.select(col("shop"))
show(names.union_all(shops.select(col("name"))))
show(names.union(shops.select(col("name"))))
show(names.minus(shops.select(col("name"))))
show(names.intersect(shops.select(col("name"))))
show(orders.where(col("shop").in_(shops.select(col("name")))).select(col("id")))
print(list(orders.order_by(col("amount").desc).fetch(2).execute().collect()))
print(list(orders.order_by(col("shop").asc, col("id").desc).offset(1).fetch(2).execute().collect()))
print(list(orders.order_by(col("id")).limit(1).execute().collect()))

print([row[0] for row in orders.order_by(col("shop").desc, col("id")).limit(2).execute().collect()])
