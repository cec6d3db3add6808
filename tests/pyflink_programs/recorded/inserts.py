"""Jobs: one INSERT, several in a statement set, and what they return."""

from pyflink.datastream import CheckpointingMode, StreamExecutionEnvironment
from pyflink.table import EnvironmentSettings, ResultKind, StreamTableEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.enable_checkpointing(10_000, CheckpointingMode.EXACTLY_ONCE)
env.get_checkpoint_config().set_checkpoint_timeout(60_000)
settings = EnvironmentSettings.new_instance().in_streaming_mode().build()
t_env = StreamTableEnvironment.create(env, environment_settings=settings)

rows = t_env.from_elements([(1, "a"), (2, None)], ["id", "name"])
rows.print_schema()
created = t_env.execute_sql(
    "CREATE TABLE sink (id BIGINT, name STRING) WITH ('connector' = 'print')"
)
print(created.get_result_kind() == ResultKind.SUCCESS, created.get_job_client())
print(list(created.collect()))

job = rows.execute_insert("sink")
job.wait()
print(job.get_result_kind() == ResultKind.SUCCESS_WITH_CONTENT)
t_env.execute_sql(f"INSERT INTO sink SELECT id + 10, UPPER(name) FROM {rows}").wait()
print(list(t_env.execute_sql(f"INSERT INTO sink SELECT id + 20, name FROM {rows}").collect()))

t_env.execute_sql("CREATE TABLE nowhere (id BIGINT, name STRING) WITH ('connector' = 'blackhole')")
together = t_env.create_statement_set()
together.add_insert_sql(f"INSERT INTO sink SELECT id + 30, 'x' FROM {rows} WHERE id = 1")
together.add_insert("nowhere", t_env.sql_query(f"SELECT id + 40, name FROM {rows} WHERE id = 1"))
together.execute().wait()
