"""Tables that are declared in Python instead of SQL, options, and functions."""

from pyflink.common import Configuration
from pyflink.table import (
    DataTypes,
    EnvironmentSettings,
    FormatDescriptor,
    Schema,
    TableDescriptor,
    TableEnvironment,
)
from pyflink.table.udf import ScalarFunction, udf, udtf

config = Configuration()
config.set_string("table.local-time-zone", "UTC")
config.set_integer("table.exec.resource.default-parallelism", 1)
settings = EnvironmentSettings.new_instance().in_streaming_mode().with_configuration(config).build()
t_env = TableEnvironment.create(settings)
print(settings.is_streaming_mode(), t_env.get_config().get("table.local-time-zone", ""))
t_env.get_config().get_configuration().set_string("table.local-time-zone", "Asia/Tokyo")
print(t_env.get_config().get_local_timezone())

schema = (
    Schema.new_builder()
    .column("id", DataTypes.INT())
    .column("ts", "TIMESTAMP(3)")
    .column_by_expression("twice", "id * 2")
    .watermark("ts", "ts - INTERVAL '5' SECOND")
    .build()
)
source = (
    TableDescriptor.for_connector("datagen")
    .schema(schema)
    .option("number-of-rows", "2")
    .option("fields.id.kind", "sequence")
    .option("fields.id.start", "1")
    .option("fields.id.end", "2")
    .build()
)
t_env.create_temporary_table("source", source)
t_env.from_path("source").get_resolved_schema().get_column_names()
print([row[0] for row in t_env.sql_query("SELECT twice FROM source").execute().collect()])
print([row[0] for row in t_env.from_descriptor(source).execute().collect()])
print(
    FormatDescriptor.for_format("json").option("ignore-parse-errors", "true").build().get_options()
)


class Scaled(ScalarFunction):
    def __init__(self, factor):
        self.factor = factor

    def eval(self, x):
        return x * self.factor


@udtf(result_types=[DataTypes.STRING(), DataTypes.INT()])
def split(text):
    for part in text.split(","):
        yield part, len(part)


t_env.create_temporary_system_function("scaled", udf(Scaled(12), result_type=DataTypes.INT()))
t_env.create_temporary_function("next_of", udf(lambda i: i + 1, result_type="INT"))
t_env.create_temporary_function("parts_of", split)
print(t_env.list_user_defined_functions())
t_env.execute_sql("SELECT id, scaled(id), next_of(id) FROM source").print()
t_env.execute_sql(
    "SELECT w, n FROM (VALUES ('a,bc')) AS t (s), LATERAL TABLE(parts_of(s)) AS p (w, n)"
).print()
print(t_env.drop_temporary_function("next_of"), t_env.drop_temporary_function("next_of"))
