"""Times in expressions: their parts, steps, differences and formats."""

from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expression import TimeIntervalUnit, TimePointUnit
from pyflink.table.expressions import (
    col,
    convert_tz,
    date_format,
    from_unixtime,
    lit,
    null_of,
    timestamp_diff,
    to_date,
    to_timestamp,
    unix_timestamp,
)

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
t_env.get_config().set_local_timezone("UTC")
times = t_env.from_elements(
    [("2024-02-29 23:58:59.123", "2024-02-29"), ("1969-12-31 00:00:00", None)], ["s", "day"]
).select(to_timestamp(col("s")).alias("t"), col("day").to_date.alias("d"), col("s"))
t, d, s = col("t"), col("d"), col("s")

units = [
    TimeIntervalUnit.YEAR,
    TimeIntervalUnit.QUARTER,
    TimeIntervalUnit.MONTH,
    TimeIntervalUnit.WEEK,
    TimeIntervalUnit.DAY,
    TimeIntervalUnit.HOUR,
    TimeIntervalUnit.MINUTE,
    TimeIntervalUnit.SECOND,
]
times.select(*(t.extract(unit).alias(unit.name) for unit in units)).execute().print()
times.select(*(d.extract(unit).alias(unit.name) for unit in units[:5])).execute().print()
floors = (t.floor(unit).cast(DataTypes.STRING()).alias(unit.name) for unit in units)
times.select(*floors).execute().print()
ceilings = (t.ceil(unit).cast(DataTypes.STRING()).alias(unit.name) for unit in units)
times.select(*ceilings).execute().print()

times.select(
    timestamp_diff(TimePointUnit.DAY, t, lit("2024-03-01 00:00:00").to_timestamp).alias("days"),
    timestamp_diff(TimePointUnit.SECOND, t, lit("2024-03-01 00:00:00").to_timestamp).alias("secs"),
    timestamp_diff(TimePointUnit.MONTH, d, lit("2025-02-28").to_date).alias("months"),
).execute().print()
times.select(
    (t + lit(1).day).alias("a"),
    (t - lit(90).minutes).alias("b"),
    (d + lit(1).month).alias("c"),
    (t + lit(2).hours + lit(3).seconds).alias("e"),
    (d + lit(1).year).alias("f"),
    (t > lit("2000-01-01 00:00:00").to_timestamp).alias("late"),
).execute().print()
times.select(
    date_format(t, "yyyy/MM/dd HH:mm").alias("a"),
    date_format(s, "yyyy").alias("b"),
    to_date(lit("03.05.2021"), "dd.MM.yyyy").alias("c"),
    convert_tz(lit("2024-03-31 01:30:00"), "UTC", "Europe/Berlin").alias("e"),
    from_unixtime(lit(86400)).alias("f"),
    unix_timestamp(lit("1970-01-02 00:00:00")).alias("g"),
    null_of(DataTypes.DATE()).alias("i"),
).execute().print()
