"""The words of lines, counted with the Table API."""

from pyflink.common import Row
from pyflink.table import DataTypes, EnvironmentSettings, Schema, TableDescriptor, TableEnvironment
from pyflink.table.expressions import col, lit
from pyflink.table.udf import udtf

LINES = ["to be or not to be", "that is the question", "to be"]

t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
t_env.get_config().set("parallelism.default", "1")
lines = t_env.from_elements([(line,) for line in LINES], ["line"])
sink = (
    TableDescriptor.for_connector("print")
    .schema(
        Schema.new_builder()
        .column("word", DataTypes.STRING())
        .column("n", DataTypes.BIGINT())
        .build()
    )
    .build()
)
t_env.create_temporary_table("sink", sink)


@udtf(result_types=[DataTypes.STRING()])
def split(line: Row):
    for word in line[0].split():
        yield Row(word)


counted = (
    lines.flat_map(split).alias("word").group_by(col("word")).select(col("word"), lit(1).count)
)
counted.print_schema()
counted.execute_insert("sink").wait()
