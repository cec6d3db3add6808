"""Values of every type: as they are printed, and as Python gets them."""

import datetime
from decimal import Decimal

from pyflink.common import Row
from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
t_env.get_config().set_local_timezone("UTC")
QUERY = """
    SELECT CAST(1 AS TINYINT) AS tiny, CAST(2.50 AS DECIMAL(10, 2)) AS price, 1.5E0 AS x,
        CAST(1.5 AS FLOAT) AS y, TRUE AS b, DATE '2020-01-02' AS d, TIME '10:11:12' AS at_time,
        TIMESTAMP '2020-01-02 03:04:05.678' AS ts, CAST(NULL AS BIGINT) AS nothing,
        ARRAY[1, 2] AS numbers, MAP['a', 1] AS names, 'a long string that is cut in the middle' AS s,
        '日本語' AS wide
"""
table = t_env.sql_query(QUERY)
table.print_schema()
table.execute().print()
for row in t_env.execute_sql(QUERY).collect():
    for value in row:
        print(type(value).__name__, repr(value))
t_env.execute_sql(
    "SELECT CAST(TIMESTAMP '2020-01-02 03:04:05' AS TIMESTAMP_LTZ(3)), X'0102', "
    "INTERVAL '1' DAY, ROW(1, 'x') FROM (VALUES (1)) AS v (n)"
).print()
t_env.execute_sql("SELECT * FROM (VALUES (1)) AS t (a_column_with_a_long_name) WHERE 1 > 2").print()

inferred = t_env.from_elements(
    [
        (
            1,
            "a'b",
            1.5,
            datetime.datetime(2020, 1, 1),
            Decimal("1.5"),
            [1, 2],
            {"k": 1},
            True,
            datetime.date(2020, 1, 1),
            datetime.time(1, 2, 3),
        ),
    ]
)
inferred.print_schema()
print(
    list(t_env.execute_sql(f"SELECT `_1`, `_2`, `_3`, `_6`, `_8`, `_9` FROM {inferred}").collect())
)
declared = t_env.from_elements(
    [(1, "a"), Row(2, None)],
    DataTypes.ROW(
        [DataTypes.FIELD("id", DataTypes.TINYINT()), DataTypes.FIELD("n", DataTypes.STRING())]
    ),
)
declared.print_schema()
print(list(declared.execute().collect()))
print(
    list(
        t_env.from_elements([], DataTypes.ROW([DataTypes.FIELD("id", DataTypes.INT())]))
        .execute()
        .collect()
    )
)
