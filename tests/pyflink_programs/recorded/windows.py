"""Windows of the Table API, over event time."""

import tempfile
from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import (
    CURRENT_ROW,
    UNBOUNDED_RANGE,
    UNBOUNDED_ROW,
    col,
    lit,
    row_interval,
)
from pyflink.table.window import Over, Session, Slide, Tumble

ORDERS = """
{"id": 1, "shop": "a", "ts": "2026-01-01 10:00:01"}
{"id": 2, "shop": "a", "ts": "2026-01-01 10:00:04"}
{"id": 3, "shop": "b", "ts": "2026-01-01 10:00:07"}
{"id": 4, "shop": "a", "ts": "2026-01-01 10:00:21"}
{"id": 5, "shop": "b", "ts": "2026-01-01 10:00:29"}
"""

file = Path(tempfile.mkdtemp()) / "orders.json"
file.write_text(ORDERS.lstrip())
t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
t_env.get_config().set("parallelism.default", "1")
t_env.execute_sql(f"""
    CREATE TABLE orders (id INT, shop STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
    WITH ('connector' = 'filesystem', 'path' = '{file}', 'format' = 'json')
""")
orders = t_env.from_path("orders")


def show(table):
    print(table.get_resolved_schema().get_column_names())
    for row in sorted(map(str, table.execute().collect())):
        print(row)


show(
    orders.window(Tumble.over(lit(10).seconds).on(col("ts")).alias("w"))
    .group_by(col("w"), col("shop"))
    .select(
        col("shop"),
        col("w").start.alias("begin"),
        col("w").end.alias("end"),
        col("id").count.alias("n"),
    )
)
show(
    orders.window(Slide.over(lit(20).seconds).every(lit(10).seconds).on(col("ts")).alias("w"))
    .group_by(col("w"), col("shop"))
    .select(col("shop"), col("w").start, col("id").sum.alias("total"))
)
show(
    orders.window(Session.with_gap(lit(5).seconds).on(col("ts")).alias("w"))
    .group_by(col("w"), col("shop"))
    .select(col("shop"), col("w").start, col("w").end, col("id").max)
)
show(
    orders.over_window(
        Over.partition_by(col("shop")).order_by(col("ts")).preceding(UNBOUNDED_RANGE).alias("w")
    ).select(
        col("id"), col("id").sum.over(col("w")).alias("so_far"), col("id").count.over(col("w"))
    )
)
show(
    orders.over_window(
        Over.partition_by(col("shop")).order_by(col("ts")).preceding(lit(10).seconds).alias("w")
    ).select(col("id"), col("id").sum.over(col("w")).alias("recent"))
)
show(
    orders.over_window(
        Over.order_by(col("ts")).preceding(UNBOUNDED_ROW).following(CURRENT_ROW).alias("w")
    ).select(col("id"), col("id").min.over(col("w")).alias("first"))
)
show(
    orders.over_window(
        Over.order_by(col("ts")).preceding(row_interval(1)).following(CURRENT_ROW).alias("w")
    ).select(col("id"), col("id").sum.over(col("w")).alias("two"))
)
