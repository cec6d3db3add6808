"""Expressions of plans computed in columns, by Polars: without Spark, and with its results bit for
bit.

    program = Program.of(expressions, columns=frame.columns, zone="UTC", now=now)
    program.over(frame, names)

What cannot be computed so, or not yet, raises `NotInColumns`, which names the function. Each module
has a theme and a table of functions by name, beside the Spark SQL of the same functions in
`functions`; `tables.WRITERS` has them all.

The columns are as Spark gives them to Arrow, read by Polars:

    Flink                        Arrow                    Polars
    BOOLEAN                      bool                     Boolean
    TINYINT ... BIGINT           int8 ... int64           Int8 ... Int64
    FLOAT, DOUBLE                float32, float64         Float32, Float64
    DECIMAL(p, s)                decimal128(p, s)         Decimal(p, s)
    CHAR(n), VARCHAR(n), STRING  string                   String
    BINARY(n), VARBINARY(n)      binary                   Binary
    DATE                         date32                   Date
    TIME(p)                      time64[us]               Time, in whole microseconds
    TIMESTAMP(p)                 timestamp[us]            Datetime(us)
    TIMESTAMP_LTZ(p)             timestamp[us, UTC]       Datetime(us, UTC)
    INTERVAL DAY TO SECOND       duration[us]             Duration(us)
    INTERVAL YEAR TO MONTH       month_day_nano_interval  Int32, months (Polars has no such type)
    ARRAY, MAP, ROW              list, map, struct        List, Map, Struct
    MULTISET<t>                  map<t, int32>            Map(t, Int32)

Names of ROW fields are those of `spark_text.safe_names`. A time that is not defined as an instant,
as in the missing hour in spring, is the instant that Java makes of it: as much later as clocks were
moved forward.
"""

from tidemark.columns.program import Program
from tidemark.columns.refusals import NotInColumns
from tidemark.columns.types import polars_type

__all__ = ["NotInColumns", "Program", "polars_type"]
