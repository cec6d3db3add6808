"""What programs for PyFlink get where it is not what PyFlink has, or could not be recorded."""

from __future__ import annotations

import asyncio
import importlib
from datetime import datetime

import pytest

import tidemark.pyflink  # noqa: F401 - makes `pyflink` importable
from tidemark.errors import NotSupported, TidemarkError
from tidemark.pyflink_programs.program_run import ProgramRun, around

table = importlib.import_module("pyflink.table")
expressions = importlib.import_module("pyflink.table.expressions")
window = importlib.import_module("pyflink.table.window")
datastream = importlib.import_module("pyflink.datastream")
udfs = importlib.import_module("pyflink.table.udf")
JsonOnNull = importlib.import_module("pyflink.table.expression").JsonOnNull
col, lit = expressions.col, expressions.lit


@pytest.fixture
def program():
    with around(ProgramRun(settings={"tidemark.engine": "local"}, note=lambda note: None)) as made:
        yield made
        for session in made.sessions:
            session.stop()


@pytest.fixture
def t_env(program):
    return table.TableEnvironment.create(table.EnvironmentSettings.in_batch_mode())


def rows(result):
    return [tuple(row) for row in result.execute().collect()]


def test_map_has_the_fields_of_the_returned_row(t_env):
    fields = [table.DataTypes.FIELD("n", "INT"), table.DataTypes.FIELD("name", "STRING")]

    @udfs.udf(result_type=table.DataTypes.ROW(fields))
    def described(row):
        return row.id * 2, f"order {row['id']}"

    orders = t_env.from_elements([(1,), (2,)], ["id"])
    mapped = orders.map(described)
    assert mapped.get_schema().get_field_names() == ["n", "name"]
    assert rows(mapped) == [(2, "order 1"), (4, "order 2")]


def test_values_of_a_declared_type_are_those_of_the_elements(t_env):
    row = table.DataTypes.ROW(
        [
            table.DataTypes.FIELD("f", table.DataTypes.FLOAT()),
            table.DataTypes.FIELD("m", table.DataTypes.MAP("STRING", table.DataTypes.INT())),
            table.DataTypes.FIELD("b", table.DataTypes.BYTES()),
        ]
    )
    made = t_env.from_elements([(float("inf"), {"k": 1}, b"\x01"), (None, None, None)], row)
    assert rows(made) == [(float("inf"), {"k": 1}, b"\x01"), (None, None, None)]


def test_elements_may_be_empty_collections(t_env):
    types = table.DataTypes
    pair = types.ROW([types.FIELD("n", types.INT()), types.FIELD("list", types.ARRAY("INT"))])
    row = types.ROW(
        [
            types.FIELD("a", types.ARRAY(types.ARRAY(types.STRING()))),
            types.FIELD("m", types.MAP("STRING", types.TIMESTAMP(3))),
            types.FIELD("r", pair),
        ]
    )
    given = [
        ([], {}, (1, [])),
        ([[], ["x"]], {"k": datetime(2024, 5, 6)}, (None, [7])),
        (None,) * 3,
    ]

    found = rows(t_env.from_elements(given, row))

    assert [(a, m, None if r is None else tuple(r)) for a, m, r in found] == given


def test_a_row_of_another_length_is_an_error(t_env):
    with pytest.raises(ValueError, match="a row has 1 values, but the schema 2 columns"):
        t_env.from_elements([(1,)], table.DataTypes.ROW(["INT", "INT"]))


def test_a_column_that_is_not_null_stays_so(t_env):
    fields = [
        table.DataTypes.FIELD("id", table.DataTypes.INT().not_null()),
        table.DataTypes.FIELD("name", table.DataTypes.STRING()),
    ]
    made = t_env.from_elements([(1, "a"), (2, None)], table.DataTypes.ROW(fields))

    assert str(made.get_resolved_schema()) == "(\n  `id` INT NOT NULL,\n  `name` STRING\n)"
    assert rows(made) == [(1, "a"), (2, None)]
    many = t_env.from_elements([(n, "a") for n in range(200)], table.DataTypes.ROW(fields))
    assert len(rows(many)) == 200
    with pytest.raises(ValueError, match="column id is NOT NULL, but a row has None there"):
        t_env.from_elements([(1, "a"), (None, "b")], table.DataTypes.ROW(fields))


def test_json_is_made_of_columns(t_env):
    # PyFlink has these functions, too, but they fail there on their way to Java.
    null, absent = JsonOnNull.NULL, JsonOnNull.ABSENT
    people = t_env.from_elements([("ann", 2), ("bob", None)], ["name", "points"])

    made = people.select(
        expressions.json_object(null, "n", col("name"), "p", col("points")),
        expressions.json_object(absent, "p", col("points")),
        expressions.json_array(null, col("name"), col("points"), 1),
        expressions.json_array(absent, col("points")),
        expressions.json_object(null, "k", expressions.json_array(null, 1, "2")),
        expressions.json_object(null, "k", expressions.json('{"b": [1]}')),
        expressions.json_object(),
        expressions.json_array(),
    )

    same = ('{"k":[1,"2"]}', '{"k":{"b":[1]}}', "{}", "[]")
    assert rows(made) == [
        ('{"n":"ann","p":2}', '{"p":2}', '["ann",2,1]', "[2]", *same),
        ('{"n":"bob","p":null}', "{}", '["bob",null,1]', "[]", *same),
    ]
    with pytest.raises(TypeError, match="a value for each key"):
        expressions.json_object(null, "k")


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (lambda: expressions.range_("a", "z"), "there is no column 'z'"),
        (lambda: expressions.range_(0, 2), "there is no column 0"),
        (lambda: expressions.with_columns(col("z")), "there is no column 'z'"),
        (lambda: expressions.range_("c", "a"), "column a is before c"),
    ],
)
def test_columns_that_cannot_be_chosen(t_env, choice, message):
    made = t_env.from_elements([(1, 2, 3)], ["a", "b", "c"])

    with pytest.raises(TidemarkError, match=message):
        made.select(choice())
    with pytest.raises(TidemarkError, match=r"can be chosen for select, group_by"):
        made.filter(expressions.with_columns(1) == 1)


def test_windows_of_a_number_of_rows_are_rejected(t_env):
    orders = t_env.from_elements([(1,)], ["id"])
    by_rows = window.Tumble.over(expressions.row_interval(2)).on(col("id")).alias("w")
    with pytest.raises(NotSupported, match="windows of a number of rows"):
        orders.window(by_rows).group_by(col("w")).select(col("id").count)


def test_a_window_that_is_not_grouped_by_is_an_error(t_env):
    orders = t_env.from_elements([(1,)], ["id"])
    with pytest.raises(TidemarkError, match="grouped by the alias of the window"):
        orders.window(window.Tumble.over(lit(1).days).on(col("id")).alias("w")).group_by(col("id"))


def test_what_is_not_there_says_so(t_env):
    orders = t_env.from_elements([(1,)], ["id"])
    with pytest.raises(AttributeError, match="Table has no column nothing"):
        orders.nothing  # noqa: B018
    with pytest.raises(AttributeError, match=r"TableEnvironment\.nothing of PyFlink"):
        t_env.nothing()
    with pytest.raises(NotSupported, match=r"DataStream API .*\.to_data_stream") as caught:
        t_env.to_data_stream(orders)
    assert caught.value.hint is not None and "execute().print()" in caught.value.hint
    with pytest.raises(NotSupported, match=r"DataStream API .*\.from_collection"):
        datastream.StreamExecutionEnvironment.get_execution_environment().from_collection([1])
    with pytest.raises(ValueError, match="no truth value"):
        orders.where(col("id") > 1 and col("id") < 3)


def test_names_in_programs_are_quoted_in_sql(t_env):
    orders = t_env.from_elements([(1, "it's")], ["a`b", "from"])
    renamed = orders.select(col("a`b").alias("x y"), col("from"))
    assert renamed.get_schema().get_field_names() == ["x y", "from"]
    assert rows(renamed.where(col("from") == "it's")) == [(1, "it's")]


def test_texts_in_expressions_may_have_braces(t_env):
    fields = [table.DataTypes.FIELD("{}", "INT")]
    schema = table.DataTypes.ROW(
        [
            table.DataTypes.FIELD("r", table.DataTypes.ROW(fields)),
            table.DataTypes.FIELD("j", "STRING"),
        ]
    )
    made = t_env.from_elements([((1,), '{"a": 2, "{}": 3}')], schema)
    found = made.select(
        col("r").get("{}"), col("j").json_value("$.a", table.DataTypes.INT()), lit("{}")
    )
    assert rows(found) == [(1, 2, "{}")]


def test_results_are_read_once(t_env):
    result = t_env.from_elements([(1,)], ["id"]).execute()
    result.wait()
    assert [tuple(row) for row in result.collect()] == [(1,)]
    with pytest.raises(TidemarkError, match="rows of this result have been read"):
        result.print()


def test_a_stream_is_sorted_up_to_a_limit(program):
    made = table.TableEnvironment.create(table.EnvironmentSettings.in_streaming_mode())
    by_size = made.from_elements([(1,), (3,), (2,)], ["n"]).order_by(col("n").desc)
    assert by_size.limit(2).to_pandas()["n"].tolist() == [3, 2]
    with pytest.raises(TidemarkError, match="only be sorted by a time attribute"):
        by_size.execute()


def test_a_limit_keeps_an_offset(t_env):
    in_order = t_env.from_elements([(1,), (3,), (2,)], ["n"]).order_by(col("n"))
    assert rows(in_order.offset(1).limit(1)) == rows(in_order.limit(1, 1)) == [(2,)]


@pytest.mark.parametrize(
    "join",
    [
        lambda one, other: one.join(other),
        lambda one, other: one.left_outer_join(other, col("id") == col("id")),
        lambda one, other: one.join_lateral(expressions.call("SPLIT", col("s"), ",").alias("id")),
    ],
)
def test_columns_with_one_name_cannot_be_joined(t_env, join):
    one = t_env.from_elements([(1, "a")], ["id", "s"])
    other = t_env.from_elements([(1,)], ["id"])
    with pytest.raises(TidemarkError, match=r"both sides of the join have a column id"):
        join(one, other)


def test_an_empty_result_can_be_read_after_waiting_for_it(t_env):
    result = t_env.from_elements([(1,)], ["id"]).where(col("id") > 1).execute()
    result.wait()
    assert list(result.collect()) == []


def test_options_of_the_command_line_and_of_environments(program):
    env = datastream.StreamExecutionEnvironment.get_execution_environment()
    env.set_runtime_mode(datastream.RuntimeExecutionMode.BATCH)
    env.enable_checkpointing(5000)
    made = table.StreamTableEnvironment.create(env)
    assert made.get_config().get("execution.runtime-mode", "") == "batch"
    assert made.get_config().get("execution.checkpointing.interval", "") == "5000 ms"
    assert made.get_config().get("tidemark.engine", "") == "local"
    assert len(program.sessions) == 1


def test_statement_sets_start_with_the_stream_environment(program, capsys):
    common = importlib.import_module("pyflink.common")
    env = datastream.StreamExecutionEnvironment.get_execution_environment()
    env.set_restart_strategy(common.RestartStrategies.fixed_delay_restart(3, 1000))
    env.get_config().set_auto_watermark_interval(200)
    made = table.StreamTableEnvironment.create(env)
    made.execute_sql("CREATE TABLE sink (n INT) WITH ('connector' = 'print')")
    together = made.create_statement_set().add_insert_sql("INSERT INTO sink VALUES (1)")

    with pytest.raises(TidemarkError, match="has nothing to run"):
        env.execute("job")
    together.attach_as_datastream()
    assert not program.jobs
    env.execute("job")

    assert not program.jobs
    assert capsys.readouterr().out == "+I[1]\n"


def test_an_environment_with_names_of_its_own(program):
    builder = table.EnvironmentSettings.new_instance().in_batch_mode()
    named = builder.with_built_in_catalog_name("mine").with_built_in_database_name("home").build()
    made = table.TableEnvironment.create(named)
    assert (made.get_current_catalog(), made.get_current_database()) == ("mine", "home")


@pytest.mark.parametrize("text", ["SELECT 1; SELECT 2", ""])
def test_one_statement_at_a_time(t_env, text):
    with pytest.raises(TidemarkError, match="expected one statement"):
        t_env.execute_sql(text)


def test_everything_can_be_imported_at_once():
    namespace: dict[str, object] = {}
    exec("from pyflink.table import *\nfrom pyflink.table.expressions import *", namespace)
    assert {"TableEnvironment", "DataTypes", "col", "UNBOUNDED_RANGE"} <= set(namespace)


@pytest.mark.spark
def test_frames_of_pandas(program, spark):
    import pandas as pd

    program.settings, program.spark = {}, spark
    made = table.TableEnvironment.create(table.EnvironmentSettings.in_streaming_mode())
    frame = pd.DataFrame({"id": [1, 2], "name": ["a", None]})
    as_they_are = made.from_pandas(frame)
    assert as_they_are.get_schema().get_field_data_types() == [
        table.DataTypes.BIGINT(),
        table.DataTypes.STRING(),
    ]
    typed = made.from_pandas(frame, [table.DataTypes.INT(), table.DataTypes.STRING()])
    assert rows(typed.select(col("id") + 1, col("name"))) == [(2, "a"), (3, None)]


class CountAndSum(udfs.AggregateFunction):
    """Of the column `b` of whole rows. Python's accumulators are not changed row by row in PyFlink,
    which emits a group once for some rows.
    """

    def create_accumulator(self):
        return [0, 0]

    def accumulate(self, accumulator, row):
        accumulator[0] += 1
        accumulator[1] += row.b

    def retract(self, accumulator, row):
        accumulator[0] -= 1
        accumulator[1] -= row["b"]

    def get_value(self, accumulator):
        return table.Row(*accumulator)


COUNT_AND_SUM = udfs.udaf(
    CountAndSum(),
    result_type=table.DataTypes.ROW(
        [
            table.DataTypes.FIELD("n", table.DataTypes.BIGINT()),
            table.DataTypes.FIELD("total", table.DataTypes.BIGINT()),
        ]
    ),
)


def test_an_aggregate_function_takes_rows_and_returns_columns(program):
    made = table.TableEnvironment.create(table.EnvironmentSettings.in_streaming_mode())
    changing = made.from_elements([("x", 1), ("y", 2), ("x", 3)], ["a", "b"])
    counted = changing.group_by(col("a")).aggregate(COUNT_AND_SUM.alias("c"))

    found = counted.select(col("a"), col("c"), (col("total") * 2).alias("twice"))

    with found.execute().collect() as changes:
        kept = [(str(row.get_row_kind()), *row) for row in changes]
    assert kept == [
        ("+I", "x", 1, 2),
        ("+I", "y", 1, 4),
        ("-U", "x", 1, 2),
        ("+U", "x", 2, 8),
    ]
    # The groups change, so what is counted of them is retracted.
    sums = found.select(col("c").alias("b")).aggregate(COUNT_AND_SUM).select(col("n"), col("total"))
    assert rows(sums)[-1] == (2, 3)


def test_an_aggregate_function_of_windows(program):
    made = table.TableEnvironment.create(table.EnvironmentSettings.in_streaming_mode())
    fields = "`a` STRING, `b` BIGINT, `ts` TIMESTAMP(3), WATERMARK FOR ts AS ts"
    options = "'connector' = 'filesystem', 'format' = 'csv', 'path' = '/nowhere/at/all'"
    made.execute_sql(f"CREATE TABLE events ({fields}) WITH ({options})")
    by_hour = window.Tumble.over(lit(1).hours).on(col("ts")).alias("w")

    counted = made.from_path("events").window(by_hour).group_by(col("w"), col("a"))
    found = counted.aggregate(COUNT_AND_SUM.alias("c", "d")).select(
        col("a"), col("w").start.alias("s"), col("d")
    )

    assert found.get_schema().get_field_names() == ["a", "s", "d"]
    assert "TUMBLE" in found.explain().upper()
    every = counted.aggregate(COUNT_AND_SUM.alias("c", "d")).select(
        expressions.with_columns(expressions.range_("a", "d")), col("w").end.alias("e")
    )
    assert every.get_schema().get_field_names() == ["a", "c", "d", "e"]


def test_an_aggregate_of_one_value_has_a_name(t_env):
    longest = udfs.udaf(lambda s: s.str.len().max(), result_type="BIGINT", func_type="pandas")
    names = t_env.from_elements([("ab",), ("abc",)], ["name"])

    assert rows(names.aggregate(longest(col("name"))).select(col("f0"))) == [(3,)]
    assert rows(names.aggregate(longest(col("name")).alias("m")).select(col("m"))) == [(3,)]
    with pytest.raises(TidemarkError, match="3 aliases for a result with 2 columns"):
        t_env.from_elements([(1,)], ["b"]).aggregate(COUNT_AND_SUM.alias(*"xyz")).select(col("x"))


def test_inserts_are_declared_and_started_later(t_env, tmp_path):
    options = f"'connector' = 'filesystem', 'format' = 'csv', 'path' = '{tmp_path}/out'"
    t_env.execute_sql(f"CREATE TABLE sink (id BIGINT) WITH ({options})")
    orders = t_env.from_elements([(1,), (2,)], ["id"])
    pipeline = orders.insert_into("sink")

    assert "sink" in pipeline.explain()
    pipeline.execute().wait()
    t_env.create_statement_set().add(pipeline).execute().wait()

    assert sorted(rows(t_env.from_path("sink"))) == [(1,), (1,), (2,), (2,)]


def test_a_pandas_function_that_returns_a_frame_has_as_many_fields(t_env):
    two = table.DataTypes.ROW([table.DataTypes.FIELD(n, "BIGINT") for n in "ab"])
    one = udfs.udf(lambda frame: frame[["id"]], result_type=two, func_type="pandas")
    orders = t_env.from_elements([(1,)], ["id"])

    with pytest.raises(TidemarkError, match=r"1 columns was returned, .* with 2 fields"):
        rows(orders.map(one))


def test_overlaps_of_times(t_env):
    def at(time):
        return lit(time).to_time

    one = t_env.from_elements([(1,)], ["id"])
    overlaps = expressions.temporal_overlaps
    found = one.select(
        overlaps(at("2:55:00"), lit(1).hours, at("3:30:00"), lit(2).hours),
        overlaps(at("9:00:00"), at("9:30:00"), at("9:29:00"), at("10:30:00")),
        overlaps(at("9:00:00"), at("10:00:00"), at("10:15:00"), lit(3).hours),
    )
    assert rows(found) == [(True, True, False)]


def test_strings_are_not_expressions(t_env):
    orders = t_env.from_elements([(1, "a")], ["id", "name"])

    for use in (orders.select, orders.group_by, orders.order_by, orders.drop_columns):
        with pytest.raises(TidemarkError, match="'id' is a string, not an expression") as problem:
            use("id")
        assert "write col('id')" in str(problem.value.hint)


def test_fields_of_rows_that_are_not_there(t_env):
    made = t_env.from_elements([((1, "a"), 2)], ["r", "n"])

    with pytest.raises(TidemarkError, match="there is no field 2 in `r`"):
        made.select(col("r").get(2))
    with pytest.raises(TidemarkError, match="flatten is for select"):
        made.filter(col("r").flatten == 1)
    with pytest.raises(NotSupported, match=r"Expression\.bitmap_build"):
        made.select(col("n").bitmap_build)


def test_rows_of_expressions_have_the_fields_of_their_schema(t_env):
    rows_of = [expressions.row(1, "a"), expressions.row(2, "b")]

    assert rows(t_env.from_elements(rows_of)) == [(1, "a"), (2, "b")]
    with pytest.raises(TypeError, match=r"DataTypes.ROW\(\[...\]\) of 2 fields"):
        t_env.from_elements(rows_of, table.DataTypes.ROW(["INT"]))


class Rate(udfs.AsyncScalarFunction):
    """Waits longer for the first rows, so that the others overtake them. With more than one
    argument, PyFlink 2.3 may call such a function with those of a later row.
    """

    def open(self, function_context):
        self.rates = {"EUR": 11, "USD": 10}
        self.waiting = self.most_waiting = 0

    async def eval(self, currency, amount):
        self.waiting += 1
        self.most_waiting = max(self.most_waiting, self.waiting)
        await asyncio.sleep(0.02 if amount < 5 else 0)
        self.waiting -= 1
        return self.rates[currency] * amount


def test_async_functions_wait_for_several_rows_at_once(t_env):
    function = Rate()
    rate = udfs.udf(function, result_type=table.DataTypes.BIGINT())
    payments = t_env.from_elements(
        [("EUR" if n % 2 else "USD", n) for n in range(40)], ["currency", "amount"]
    )

    found = rows(payments.select(rate(col("currency"), col("amount"))))

    assert found == [(n * (11 if n % 2 else 10),) for n in range(40)]
    assert function.most_waiting == 10


def test_async_functions_return_rows_and_null(t_env):
    fields = [table.DataTypes.FIELD("n", "INT"), table.DataTypes.FIELD("name", "STRING")]

    @udfs.udf(result_type=table.DataTypes.ROW(fields))
    async def described(n):
        return None if n is None else table.Row(n, f"order {n}")

    t_env.create_temporary_function("described", described)
    orders = t_env.from_elements([(1,), (None,)], ["id"])

    assert rows(orders.select(described(col("id")).alias("r")).select(col("r").get(1))) == [
        ("order 1",),
        (None,),
    ]
    found = t_env.sql_query(f"SELECT described(id).n FROM {orders}")
    assert rows(found) == [(1,), (None,)]


def test_an_async_function_that_fails(t_env):
    @udfs.udf(result_type="BIGINT")
    async def failing(n):
        raise ValueError("no connection")

    with pytest.raises(TidemarkError, match="ValueError: no connection"):
        rows(t_env.from_elements([(1,)], ["id"]).select(failing(col("id"))))


class Spread(udfs.AggregateFunction):
    """Of frames of pandas with all rows of a group."""

    def create_accumulator(self):
        return []

    def accumulate(self, accumulator, frame):
        accumulator.append(frame.b.max() - frame.b.min())
        accumulator.append(len(frame))

    def get_value(self, accumulator):
        return table.Row(*accumulator)


def test_an_aggregate_function_takes_frames(t_env):
    two = table.DataTypes.ROW([table.DataTypes.FIELD(n, "BIGINT") for n in ("spread", "many")])
    spread = udfs.udaf(Spread(), result_type=two, func_type="pandas")
    made = t_env.from_elements([("x", 1), ("y", 2), ("x", 4)], ["a", "b"])

    found = made.group_by(col("a")).aggregate(spread).select(col("a"), col("spread"), col("many"))

    assert sorted(rows(found)) == [("x", 3, 2), ("y", 0, 1)]
    assert rows(made.aggregate(spread.alias("s", "m")).select(col("s"), col("m"))) == [(3, 3)]


def test_flat_aggregate_takes_a_table_aggregate_function(t_env):
    made = t_env.from_elements([(1,)], ["b"])

    with pytest.raises(TidemarkError, match="takes a table aggregate function"):
        made.flat_aggregate(COUNT_AND_SUM).select(col("n"))


def test_plans_are_compiled_and_executed(t_env, tmp_path):
    options = f"'connector' = 'filesystem', 'format' = 'csv', 'path' = '{tmp_path}/out'"
    t_env.execute_sql(f"CREATE TABLE sink (id BIGINT) WITH ({options})")
    t_env.execute_sql(
        "CREATE VIEW numbers AS SELECT CAST(n AS BIGINT) AS n FROM (VALUES 1) AS t (n)"
    )
    plan = t_env.compile_plan_sql("INSERT INTO sink SELECT n FROM numbers;")

    plan.execute().wait()
    plan.write_to_file(tmp_path / "plan.json")
    plan.write_to_file(tmp_path / "plan.json", ignore_if_exists=True)
    with pytest.raises(TidemarkError, match="already exists"):
        plan.write_to_file(tmp_path / "plan.json")
    t_env.execute_plan(table.PlanReference.from_file(tmp_path / "plan.json")).wait()
    again = t_env.load_plan(table.PlanReference.from_json_string(plan.as_json_string()))
    again.execute().wait()
    t_env.create_statement_set().add_insert_sql(
        "INSERT INTO sink SELECT n + 1 FROM numbers"
    ).compile_plan().execute().wait()
    t_env.from_path("numbers").insert_into("sink").compile_plan().execute().wait()

    assert "sink" in again.explain()
    assert sorted(rows(t_env.from_path("sink"))) == [(1,)] * 4 + [(2,)]
    with pytest.raises(TidemarkError, match="cannot read the plan"):
        t_env.load_plan(table.PlanReference.from_file(tmp_path / "nothing.json"))


def test_modules_are_listed(t_env):
    assert t_env.list_modules() == ["core"]
    assert repr(t_env.list_full_modules()) == "[ModuleEntry{name='core', used=true}]"
    with pytest.raises(NotSupported, match="UNLOAD MODULE core"):
        t_env.unload_module("core")


def test_rows_in_memory_are_not_listed_as_tables(t_env):
    t_env.from_elements([(n,) for n in range(200)], ["n"])

    assert t_env.list_tables() == t_env.list_temporary_tables() == []


def test_catalogs_are_created_and_read(t_env):
    common = importlib.import_module("pyflink.common")
    catalogs = importlib.import_module("pyflink.table.catalog")
    options = common.Configuration().set_string("type", "generic_in_memory")
    options.set_string("default-database", "sales")
    t_env.create_catalog("shop", catalogs.CatalogDescriptor.of("shop", options, "what is sold"))
    t_env.execute_sql("CREATE TABLE shop.sales.paid (n INT) WITH ('connector' = 'blackhole')")
    t_env.execute_sql("CREATE VIEW shop.sales.one AS SELECT 1 AS n")
    t_env.execute_sql("CREATE TEMPORARY VIEW shop.sales.two AS SELECT 2 AS n")

    shop = t_env.get_catalog("shop")

    assert t_env.list_catalogs() == ["default_catalog", "shop"]
    assert (shop.get_default_database(), shop.list_databases()) == ("sales", ["sales"])
    assert shop.database_exists("sales") and not shop.database_exists("other")
    assert (shop.list_tables("sales"), shop.list_views("sales")) == (["one", "paid"], ["one"])
    assert shop.table_exists(catalogs.ObjectPath("sales", "paid"))
    assert t_env.get_catalog("other") is None
    with pytest.raises(NotSupported, match=r"Catalog\.drop_table\(\) of PyFlink"):
        shop.drop_table(catalogs.ObjectPath("sales", "paid"), False)
