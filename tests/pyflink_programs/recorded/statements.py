"""Statements, their results, and views of queries."""

from pyflink.table import EnvironmentSettings, TableEnvironment

t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
t_env.get_config().set("parallelism.default", "1")
t_env.execute_sql("""
    CREATE TABLE orders (id INT, shop STRING, amount DECIMAL(10, 2)) WITH (
        'connector' = 'datagen', 'number-of-rows' = '3',
        'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '3',
        'fields.shop.length' = '3')
""").print()
t_env.execute_sql("CREATE VIEW shops AS SELECT id, 'tide' AS shop FROM orders").print()
t_env.execute_sql("SHOW TABLES").print()
t_env.execute_sql("DESCRIBE orders").print()
t_env.execute_sql("SHOW DATABASES LIKE 'none'").print()
print(t_env.list_tables(), t_env.list_views(), t_env.list_temporary_views())
print(t_env.get_current_catalog(), t_env.get_current_database())

table = t_env.sql_query("SELECT id, shop FROM shops;  -- with a comment")
table.print_schema()
print(table.get_resolved_schema().get_column_names())
print(f"{table} is {table}")
print(t_env.list_tables(), t_env.list_temporary_views())
table.execute().print()
t_env.execute_sql(f"SELECT shop, COUNT(*) AS n, MAX(id) FROM {table} GROUP BY shop").print()
with t_env.execute_sql(f"SELECT id + 1, shop FROM {table}").collect() as rows:
    for row in rows:
        print(row, row[0], row.get_row_kind())

t_env.create_temporary_view("named", table)
print([row[0] for row in t_env.from_path("named").execute().collect()])
print(t_env.drop_temporary_view("named"), t_env.drop_temporary_view("named"))
print(table.to_pandas())
