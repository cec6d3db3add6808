"""Options are checked by name and type, and errors point at the guilty one."""

import pytest

from tests.connectors.tables import datagen, declared, files
from tidemark.connectors import registry
from tidemark.connectors.base import Connector, OptionSpec
from tidemark.connectors.options import read_options
from tidemark.errors import NotSupported, OptionError, PlanError


def problem(table, kind=OptionError):
    with pytest.raises(kind) as caught:
        registry.options_of(table)
    return caught.value


def marked(error):
    """The piece of SQL that the caret points to."""
    assert error.at is not None and error.source is not None
    return error.source.text[error.at.start : error.at.end]


def test_values_come_under_canonical_names_with_defaults_filled_in():
    options = registry.options_of(files("id INT", "/tmp/x", json__ignore_parse_errors="TRUE"))

    assert options["path"] == "/tmp/x"
    assert options["json.ignore-parse-errors"] is True
    assert options["json.timestamp-format.standard"] == "SQL"
    assert options["source.monitor-interval"] is None


def test_durations_become_milliseconds_and_sizes_bytes():
    options = registry.options_of(
        files(
            "id INT", "/x", source__monitor_interval="5 s", sink__rolling_policy__file_size="1 kb"
        )
    )

    assert options["source.monitor-interval"] == 5000
    assert options["sink.rolling-policy.file-size"] == 1024


def test_an_unknown_option_suggests_the_nearest_known_one():
    error = problem(files("id INT", "/x", json__ignore_parse_error="true"))

    assert "'json.ignore-parse-error'" in error.message
    assert error.hint == "did you mean `json.ignore-parse-errors`?"
    assert "json.ignore-parse-error" in marked(error)


def test_options_of_another_format_are_unknown():
    assert "csv.null-literal" in problem(files("id INT", "/x", csv__null_literal="-")).message


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("json.ignore-parse-errors", "yes", "expected one of true, false"),
        ("source.monitor-interval", "soon", "expected a duration"),
        ("sink.rolling-policy.file-size", "huge", "expected a size"),
        ("sink.parallelism", "two", "expected an integer"),
        ("json.timestamp-format.standard", "RFC", "expected one of SQL, ISO-8601"),
    ],
)
def test_a_value_of_the_wrong_type_says_what_was_expected(option, value, expected):
    table = declared(
        f"CREATE TABLE t (id INT) WITH ('connector'='filesystem', 'path'='/x', 'format'='json', '{option}'='{value}')"
    )
    error = problem(table)

    assert expected in error.message and repr(value) in error.message
    assert option in marked(error)


KAFKA = "'connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 'x:1', "


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("sink.bogus", "options are sink.partitioner, sink.parallelism, sink.delivery-guarantee, "),
        (
            "bogus",
            "options are topic, properties.*, topic-pattern, format, key.*, value.*, scan.*, ",
        ),
    ],
)
def test_many_options_are_listed_by_their_families(key, hint):
    table = declared(f"CREATE TABLE t (id INT) WITH ({KAFKA} 'format' = 'json', '{key}' = '1')")

    assert (problem(table).hint or "").startswith(hint)


def test_options_of_old_scripts_are_those_of_today():
    table = declared(
        "CREATE TABLE t (id INT) WITH ('connector.type' = 'kafka', 'connector.version' = 'universal', "
        "'connector.topic' = 'x', 'connector.startup-mode' = 'latest-offset', 'format.type' = 'json', "
        "'connector.properties.bootstrap.servers' = 'x:1', 'sink.semantic' = 'none')"
    )
    options = registry.options_of(table)

    assert options["properties.bootstrap.servers"] == "x:1"
    assert options["scan.startup.mode"] == "latest-offset"
    assert options["sink.delivery-guarantee"] == "none"


def test_a_missing_option_is_named():
    table = declared("CREATE TABLE t (id INT) WITH ('connector'='filesystem', 'format'='json')")

    assert "missing option 'path'" in problem(table).message


def test_an_option_given_twice_is_refused():
    table = declared(
        "CREATE TABLE t (id INT) WITH ('connector'='filesystem', 'path'='/x', 'format'='json', 'connector.path'='/y')"
    )

    assert "given twice" in problem(table).message


@pytest.mark.parametrize(
    ("option", "secret"),
    [("password", None), ("basic-auth", None), ("jaas.config", None), ("greeting", True)],
)
def test_values_of_secrets_are_never_shown(option, secret):
    table = declared(f"CREATE TABLE t (id INT) WITH ('connector'='jdbc', '{option}'='hunter2')")
    with pytest.raises(OptionError) as caught:
        read_options(table, "jdbc", [OptionSpec(option, "int", secret=secret)])

    assert "(hidden)" in caught.value.message
    assert "hunter2" not in caught.value.render()
    assert f"'{option}'='*******'" in caught.value.render()


def test_an_option_declared_not_secret_is_shown_whatever_its_name():
    table = declared("CREATE TABLE t (id INT) WITH ('connector'='x', 'token-count'='many')")
    with pytest.raises(OptionError) as caught:
        read_options(table, "x", [OptionSpec("token-count", "int", secret=False)])

    assert "'many'" in caught.value.message


def test_errors_about_something_else_on_the_line_show_no_secret_either():
    table = declared(
        "CREATE TABLE t (id INT) WITH ('connector'='jdbc', 'api-key'='it''s', 'a'='b')"
    )
    with pytest.raises(OptionError) as caught:
        read_options(table, "jdbc", [OptionSpec("api-key")])

    [_, line, caret, *_] = caught.value.render().splitlines()
    assert line.endswith("'api-key'='*****', 'a'='b')")
    assert line[caret.index("^") :].startswith("'a'='b'")


def test_options_are_listed_with_the_secrets_that_their_connector_declares(monkeypatch):
    vault = Connector("vault", (OptionSpec("greeting", secret=True), OptionSpec("topic")), "", None)
    monkeypatch.setitem(registry.REGISTRY, "vault", vault)
    table = declared(
        "CREATE TABLE t (id INT) WITH ('connector'='vault', 'greeting'='a', 'topic'='b')"
    )

    shown = {option.key: option.value for option in registry.shown_options(table)}

    assert shown == {"connector": "vault", "greeting": "******", "topic": "b"}


def test_old_spellings_mean_the_same():
    table = declared(
        "CREATE TABLE t (id INT) WITH ('connector.type'='filesystem', 'connector.path'='/x',"
        " 'format.type'='csv', 'format.field-delimiter'=';', 'update-mode'='append',"
        " 'connector.property-version'='1')"
    )
    options = registry.options_of(table)

    assert registry.lookup(table).name == "filesystem"
    assert (options["path"], options["format"], options["csv.field-delimiter"]) == (
        "/x",
        "csv",
        ";",
    )


def test_the_oldest_spelling_of_the_connector_is_understood():
    assert (
        registry.lookup(declared("CREATE TABLE t (id INT) WITH ('type'='print')")).name == "print"
    )


# --- which connector ------------------------------------------------------------------------


def test_the_error_for_a_table_without_a_connector_lists_all_connectors():
    error = problem(declared("CREATE TABLE t (id INT)"))

    assert "filesystem" in error.hint and "dataframe" not in error.hint


def test_an_unknown_connector_suggests_the_nearest():
    error = problem(declared("CREATE TABLE t (id INT) WITH ('connector'='filesytem')"))

    assert error.hint == "did you mean `filesystem`?"
    assert "filesytem" in marked(error)


@pytest.mark.parametrize("name", ["oracle-cdc", "sqlserver-cdc"])
def test_planned_connectors_are_not_supported_yet(name):
    error = problem(declared(f"CREATE TABLE t (id INT) WITH ('connector'='{name}')"), NotSupported)

    assert "yet" in error.message and name in marked(error)
    assert error.hint is not None and "'connector' = 'kafka'" in error.hint


@pytest.mark.parametrize(
    ("name", "instead"),
    [("hudi", "'iceberg'"), ("elasticsearch-7", "'spark'"), ("redis", "'python'")],
)
def test_connectors_of_other_systems_have_a_hint_of_what_is_nearest(name, instead):
    error = problem(declared(f"CREATE TABLE t (id INT) WITH ('connector'='{name}')"), NotSupported)

    assert name in marked(error) and instead in (error.hint or "")


def test_a_value_with_variables_of_a_template_is_named_as_such():
    error = problem(datagen("id INT", rows_per_second="${RATE}"))

    assert error.hint is not None and "template" in error.hint


def test_a_dataframe_cannot_be_named_in_ddl():
    problem(declared("CREATE TABLE t (id INT) WITH ('connector'='dataframe')"))


# --- formats --------------------------------------------------------------------------------


def test_an_unknown_format_is_named_before_its_options():
    error = problem(files("id INT", "/x", "json-glue", json_glue__region="x"))

    assert error.message == "unknown format 'json-glue'"


def test_an_unknown_format_suggests_the_nearest():
    error = problem(files("id INT", "/x", "jsn"))

    assert error.hint == "did you mean `json`?"


def test_a_canal_filter_must_be_a_regular_expression():
    table = files("id INT", "/x", "canal-json", canal_json__table__include="orders(")

    assert "not a regular expression" in problem(table).message


def test_json_cannot_fail_on_missing_fields_and_ignore_errors():
    table = files(
        "id INT", "/x", json__ignore_parse_errors="true", json__fail_on_missing_field="true"
    )

    assert "cannot be combined" in problem(table).message


def test_json_maps_need_string_keys():
    assert "MAP<INT, INT>" in problem(files("m MAP<INT, INT>", "/x"), PlanError).message


def test_json_columns_that_differ_only_by_case_are_refused():
    assert "`Id`" in problem(files("id INT, `Id` INT", "/x"), PlanError).message
    problem(files("r ROW<a INT, `A` INT>", "/x"), PlanError)


@pytest.mark.parametrize(
    "type_", ["MAP<STRING, INT>", "MULTISET<STRING>", "ARRAY<ARRAY<INT>>", "ROW<a ARRAY<INT>>"]
)
def test_csv_supports_neither_maps_nor_types_nested_twice(type_):
    problem(files(f"m {type_}", "/x", "csv"), PlanError)


@pytest.mark.parametrize(
    "option",
    [
        "csv__field_delimiter",
        "csv__quote_character",
        "csv__escape_character",
        "csv__array_element_delimiter",
    ],
)
def test_csv_characters_are_single(option):
    assert "single character" in problem(files("a INT", "/x", "csv", **{option: "ab"})).message


def test_a_tab_may_be_written_as_an_escape():
    registry.options_of(files("a INT", "/x", "csv", csv__field_delimiter="\\t"))


def test_raw_holds_one_column_of_a_type_with_bytes():
    assert (
        "exactly one column" in problem(files("a STRING, b STRING", "/x", "raw"), PlanError).message
    )
    assert "TIMESTAMP(3)" in problem(files("a TIMESTAMP(3)", "/x", "raw"), PlanError).message
    assert "latin" in problem(files("a STRING", "/x", "raw", raw__charset="latin")).message


# --- datagen ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "options", "expected"),
    [
        ("id INT", {"fields__id__mim": "1"}, "unknown option 'fields.id.mim'"),
        ("id INT", {"fields__nope__min": "1"}, "does not match any column"),
        ("b BOOLEAN", {"fields__b__min": "1"}, "does not match any column"),
        ("d DATE", {"fields__d__max_past": "1 d"}, "does not match any column"),
        ("id INT", {"fields__id__kind": "other"}, "expected one of random, sequence"),
        ("id INT", {"fields__id__min": "x"}, "expected an integer"),
        ("id INT", {"fields__id__min": "1.5"}, "expected an integer"),
        ("d DOUBLE", {"fields__d__min": "NaN"}, "expected a number"),
        ("id INT", {"fields__id__min": "9", "fields__id__max": "3"}, "there is no INT between"),
        (
            "id INT",
            {"fields__id__kind": "sequence", "fields__id__start": "1"},
            "requires option 'fields.id.end'",
        ),
        (
            "id INT",
            {"fields__id__kind": "sequence", "fields__id__start": "5", "fields__id__end": "1"},
            "less than its start",
        ),
        (
            "ts DATE",
            {"fields__ts__kind": "sequence", "fields__ts__start": "1", "fields__ts__end": "2"},
            "does not match any column",
        ),
        ("id INT", {"fields__id__null_rate": "2"}, "between 0 and 1"),
        ("c CHAR(3)", {"fields__c__length": "2"}, "fixed length"),
        ("c VARCHAR(5)", {"fields__c__length": "10"}, "VARCHAR(5)"),
        ("id INT", {"number_of_rows": "-1"}, "negative"),
        ("id INT", {"rows_per_second": "0"}, "greater than zero"),
    ],
)
def test_datagen_checks_its_options_against_the_columns(columns, options, expected):
    assert expected in problem(datagen(columns, **options)).message


def test_datagen_takes_options_of_nested_fields():
    registry.options_of(
        datagen(
            "r ROW<a INT, l ARRAY<DOUBLE>>, m MAP<STRING, INT>, s MULTISET<STRING>",
            fields__r__a__min="1",
            fields__r__l__element__max="5",
            fields__m__key__length="2",
            fields__m__value__null_rate="0.5",
            fields__s__element__length="3",
        )
    )


# --- traits -----------------------------------------------------------------------------------


def test_a_monitored_folder_is_unbounded():
    assert registry.traits(files("id INT", "/x")).bounded
    assert not registry.traits(files("id INT", "/x", source__monitor_interval="1 s")).bounded


def test_files_have_metadata():
    metadata = registry.traits(files("id INT", "/x")).metadata

    assert {key: str(type_) for key, type_ in metadata.items()} == {
        "file.path": "STRING NOT NULL",
        "file.name": "STRING NOT NULL",
        "file.size": "BIGINT NOT NULL",
        "file.modification-time": "TIMESTAMP_LTZ(3) NOT NULL",
    }


def test_datagen_ends_with_a_number_of_rows_or_a_sequence():
    sequence = {"fields__id__kind": "sequence", "fields__id__start": "1", "fields__id__end": "3"}

    assert not registry.traits(datagen("id INT")).bounded
    assert registry.traits(datagen("id INT", number_of_rows="3")).bounded
    assert registry.traits(datagen("id INT", **sequence)).bounded


@pytest.mark.parametrize(("connector", "updates"), [("print", True), ("blackhole", True)])
def test_print_and_blackhole_only_take_rows(connector, updates):
    traits = registry.traits(declared(f"CREATE TABLE t (id INT) WITH ('connector'='{connector}')"))

    assert traits.writable and not traits.readable
    assert traits.accepts_updates is updates


def test_files_take_inserts_only():
    traits = registry.traits(files("id INT", "/x"))

    assert traits.readable and traits.writable and not traits.accepts_updates


def test_connectors_load_without_spark():
    import subprocess
    import sys

    code = "import sys, tidemark.connectors; sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_micro_batch_reads_at_least_one_file():
    error = problem(files("id INT", "/x", source__max_files_per_batch="0"))

    assert marked(error) == "'source.max-files-per-batch' = '0'"
