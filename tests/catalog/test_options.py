"""SET and RESET: known keys, checked values, and what a Flink script may set without effect."""

import pytest

from tests.plan.marked import refused, workspace
from tidemark.catalog.options import (
    CHECKPOINT_INTERVAL,
    MINI_BATCH,
    MINI_BATCH_LATENCY,
    OPTIONS,
    SessionOptions,
)
from tidemark.errors import OptionError


def message(statement: str) -> str:
    return workspace().plan_script(statement)[0].message


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("execution.runtime-mode", "BATCH"),
        ("table.local-time-zone", "Europe/Berlin"),
        ("table.local-time-zone", "UTC"),
        ("table.local-time-zone", "GMT+02:00"),
        ("table.local-time-zone", "-08:00"),
        ("table.exec.state.ttl", "2 h"),
        ("pipeline.max-parallelism", "4"),
        ("table.dml-sync", "TRUE"),
        ("table.exec.interval-join.min-cleanup-interval", "half-width"),
        ("table.exec.sink.not-null-enforcer", "DROP"),
        ("table.exec.sink.nested-constraint-enforcer", "ROWS"),
    ],
)
def test_value_of_a_known_key_is_kept(key, value):
    assert message(f"SET '{key}' = '{value}'") == f"'{key}' set"
    assert SessionOptions({key: value}).get(key) == value


@pytest.mark.parametrize(
    ("setting", "part"),
    [
        ("'execution.runtime-mode' = 'automatic'", "expected one of streaming, batch"),
        ("'table.local-time-zone' = 'Europe/Berlinn'", "did you mean `Europe/Berlin`?"),
        ("'table.local-time-zone' = 'GMT+99:00'", "not a time zone"),
        ("'table.local-time-zone' = 'x; DROP TABLE'", "such as 'GMT+02:00'"),
        ("'table.exec.state.ttl' = 'soon'", "soon"),
        ("'pipeline.max-parallelism' = '0'", "positive integer"),
        ("'pipeline.max-parallelism' = 'many'", "positive integer"),
        ("'table.dml-sync' = 'maybe'", "expected true or false"),
    ],
)
def test_value_of_the_wrong_kind_is_refused(setting, part):
    assert part in str(refused(f"SET «{setting}»", OptionError))


def test_unknown_key_suggests_the_nearest():
    error = refused("SET «'table.exec.state.tll' = '1 h'»", OptionError)
    assert error.hint == "did you mean `table.exec.state.ttl`?"
    assert refused("«RESET 'table.exec.state.tll'»", OptionError).hint == error.hint
    refused("SET «'tidemark.nosuch' = '1'»", OptionError)
    with pytest.raises(OptionError, match=r"unknown option 'sink\.parallelism'"):
        SessionOptions({"sink.parallelism": "1"})


@pytest.mark.parametrize("key", ["aa", "sink.parallelism", "table.exec.batch-shuffle-mode"])
def test_a_key_unlike_any_option_has_no_effect(key):
    options = SessionOptions()

    assert (
        options.set(key, "1") == f"'{key}' is not an option that Tidemark knows, and has no effect"
    )
    assert options.get(key) == "1"
    options.reset(key)
    assert options.get(key) is None


@pytest.mark.parametrize(
    "key",
    [
        "taskmanager.memory.process.size",
        "execution.checkpointing.timeout",
        "sql-client.execution.result-mode",
        "pipeline.operator-chaining",
        "table.optimizer.join-reorder-enabled",
        "table.exec.legacy-cast-behaviour",
        "restart-strategy.type",
        "table.exec.source.force-break-chain",
        "table.planner",
        "hadoop.fs.defaultFS",
        "scheduler-mode",
    ],
)
def test_key_of_flinks_runtime_is_accepted_with_a_note(key):
    assert (
        message(f"SET '{key}' = 'x'")
        == f"'{key}' configures Flink's runtime and has no effect here"
    )


def test_spark_settings_are_kept_for_spark():
    at = workspace("SET 'spark.sql.shuffle.partitions' = '7'; SET 'table.exec.state.ttl' = '1 h'")
    assert at.options.spark() == {"spark.sql.shuffle.partitions": "7"}


def test_options_are_listed_without_secrets():
    at = workspace(
        "SET 'spark.hadoop.fs.s3a.secret.key' = 'abc'; SET 'pipeline.max-parallelism' = '3'"
    )
    assert at.plan_script("SET")[0].result.rows == (
        ("pipeline.max-parallelism", "3"),
        ("spark.hadoop.fs.s3a.secret.key", "******"),
    )


def test_reset_goes_back_to_what_the_session_began_with():
    options = SessionOptions({"pipeline.max-parallelism": "2"})
    options.set("pipeline.max-parallelism", "5")
    options.set("execution.runtime-mode", "batch")
    options.reset("pipeline.max-parallelism")
    assert options.get("pipeline.max-parallelism") == "2"
    assert options.batch
    options.reset()
    assert not options.batch
    assert options.get("execution.runtime-mode") == "streaming"


def test_durations_are_given_in_milliseconds():
    assert (
        SessionOptions({"table.exec.state.ttl": "1 min"}).milliseconds("table.exec.state.ttl")
        == 60_000
    )
    assert SessionOptions().milliseconds("table.exec.state.ttl") is None


def test_defaults_are_valid_values():
    for option in OPTIONS:
        if option.default is not None:
            option.check(option.default)


@pytest.mark.parametrize(
    ("values", "interval_ms"),
    [
        ({}, 0),
        ({MINI_BATCH_LATENCY: "5 s"}, 0),
        ({MINI_BATCH: "true"}, 0),
        ({MINI_BATCH: "TRUE", MINI_BATCH_LATENCY: "5 s"}, 5000),
        ({MINI_BATCH: "true", MINI_BATCH_LATENCY: "5 s", CHECKPOINT_INTERVAL: "1 s"}, 1000),
        ({MINI_BATCH: "true", MINI_BATCH_LATENCY: "5 s", CHECKPOINT_INTERVAL: "0 s"}, 0),
    ],
)
def test_mini_batches_keep_micro_batches_apart_where_checkpoints_do_not(values, interval_ms):
    assert SessionOptions(values).interval_ms == interval_ms


def test_an_option_of_a_table_may_be_repeated_with_its_value():
    twice = "CREATE TABLE t (a INT) WITH ('connector' = 'fake', 'connector' = 'fake')"

    assert [str(each.statement.name) for each in workspace().plan_script(twice)] == ["t"]
