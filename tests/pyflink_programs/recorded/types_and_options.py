"""Objects of types, of schemas and of options."""

from datetime import timedelta

from pyflink.common import Configuration
from pyflink.table import DataTypes, EnvironmentSettings, Schema, TableEnvironment
from pyflink.table.types import IntType, RowType

# Types
for made in (
    DataTypes.INT(),
    DataTypes.STRING(),
    DataTypes.VARCHAR(3, False),
    DataTypes.DECIMAL(10, 2),
    DataTypes.ARRAY(DataTypes.INT()),
    DataTypes.MAP(DataTypes.STRING(), DataTypes.INT()),
    DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT())]),
    DataTypes.TIMESTAMP(3),
    DataTypes.TIMESTAMP_LTZ(),
    DataTypes.TIME(),
    DataTypes.BYTES(),
    DataTypes.MULTISET(DataTypes.STRING()),
    DataTypes.INTERVAL(DataTypes.YEAR()),
    DataTypes.INTERVAL(DataTypes.DAY(), DataTypes.SECOND(3)),
):
    print(repr(made), made)
print(DataTypes.INT() == DataTypes.INT(), DataTypes.INT() == DataTypes.INT(False))
print(isinstance(DataTypes.INT(), IntType), DataTypes.DECIMAL(5, 2).scale)
print(DataTypes.MAP(DataTypes.DATE(), DataTypes.FLOAT()).key_type)
row = RowType().add("id", DataTypes.BIGINT()).add("name", DataTypes.STRING())
print(row.field_names(), row.field_types(), row["id"], row[1], len(row))
print([field.data_type for field in row])

# Schemas
t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
orders = t_env.from_elements([(1, "ann", 2.5)], row.add("amount", DataTypes.DOUBLE().not_null()))
schema = orders.get_schema()
print(schema)
print(schema.get_field_names(), schema.get_field_data_types(), schema.get_field_count())
print(schema.get_field_name(0), schema.get_field_data_type("name"), schema.get_field_data_type(2))
print(schema == orders.get_schema(), schema == orders.drop_columns(orders.id).get_schema())
orders.print_schema()
print(t_env.execute_sql("SELECT 1 AS a, 'x' AS b").get_table_schema())
declared = (
    Schema.new_builder()
    .column("id", DataTypes.INT().not_null())
    .column("name", "STRING")
    .column_by_expression("upper_name", "UPPER(name)")
    .column_by_metadata("ts", DataTypes.TIMESTAMP(3), "timestamp", True)
    .watermark("ts", "ts - INTERVAL '5' SECOND")
    .primary_key("id")
    .build()
)
print(declared, declared == Schema.new_builder().from_schema(declared).build())

# Intervals are a type of columns.
waits = DataTypes.ROW(
    [DataTypes.FIELD("wait", DataTypes.INTERVAL(DataTypes.DAY(), DataTypes.SECOND(3)))]
)
t_env.from_elements([(timedelta(days=1, seconds=2),), (None,)], waits).execute().print()

# Options
config = t_env.get_config()
print(config.get_idle_state_retention(), config.get_max_generated_code_length())
config.set_idle_state_retention(timedelta(hours=3))
config.set_max_generated_code_length(5000)
config.set_local_timezone("Asia/Shanghai")
print(config.get_idle_state_retention(), config.get_max_generated_code_length())
print(config.get_local_timezone(), config.get("no.such.option", "otherwise"))
options = Configuration()
options.set_integer("parallelism.default", 3)
config.add_configuration(options)
print(config.get("parallelism.default", "1"), options.get_integer("parallelism.default", 0))
named = EnvironmentSettings.new_instance().with_built_in_catalog_name("mine").in_batch_mode()
settings = named.build()
print(settings.get_built_in_catalog_name(), settings.get_built_in_database_name())
print(settings.is_streaming_mode())
