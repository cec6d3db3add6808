"""More elements than anyone would write down, with types inferred and declared."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import col

START = datetime(2024, 3, 30, 22, 30, 0, 123456, tzinfo=UTC)
ROWS = [
    (
        n,
        n / 4,
        f"s{n}",
        Decimal(n) / 8,
        n % 2 == 0,
        date(2024, 1, 1) + timedelta(days=n),
        START + timedelta(hours=n),
        bytearray([n % 256]),
        None if n else 1,
    )
    for n in range(300)
]

t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
t_env.get_config().set("table.local-time-zone", "Europe/Berlin")

inferred = t_env.from_elements(ROWS, ["a", "b", "c", "d", "e", "f", "g", "h", "i"])
inferred.print_schema()
inferred.where(col("a") < 5).execute().print()

declared = t_env.from_elements(
    ROWS,
    DataTypes.ROW(
        [
            DataTypes.FIELD("a", DataTypes.SMALLINT()),
            DataTypes.FIELD("b", DataTypes.FLOAT()),
            DataTypes.FIELD("c", DataTypes.VARCHAR(9)),
            DataTypes.FIELD("d", DataTypes.DECIMAL(8, 2)),
            DataTypes.FIELD("e", DataTypes.BOOLEAN()),
            DataTypes.FIELD("f", DataTypes.DATE()),
            DataTypes.FIELD("g", DataTypes.TIMESTAMP_LTZ(3)),
            DataTypes.FIELD("h", DataTypes.BYTES()),
            DataTypes.FIELD("i", DataTypes.INT()),
        ]
    ),
)
declared.print_schema()
declared.where(col("a") > 290).execute().print()
