"""`tidemark doctor script.sql`: what brokers, databases and registries say about its tables."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

from servers.kafka import Broker
from servers.mysql import MySql
from servers.postgres import Postgres
from tests.connectors.sqlite_file import SqliteFile
from tests.registry import running
from tidemark import connect
from tidemark.cli import main
from tidemark.cli.doctor.findings import Finding
from tidemark.cli.doctor.script import check_script
from tidemark.errors import Source
from tidemark.session.workspace import Workspace


def found(script: str) -> list[Finding]:
    return list(check_script([Source(script, "s.sql")], Workspace()))


def lines(script: str) -> list[tuple[str, str, str]]:
    return [(finding.status, finding.name, finding.detail) for finding in found(script)]


def kafka_table(kafka: Broker, topic: str, columns: str = "id INT", **more: str) -> str:
    options = {
        "connector": "kafka",
        "topic": topic,
        "format": "json",
        "properties.bootstrap.servers": kafka.address,
        "scan.startup.mode": "earliest-offset",
        **{key.replace("__", "-"): value for key, value in more.items()},
    }
    pairs = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    return f"CREATE TABLE t ({columns}) WITH ({pairs});"


# --- Kafka -------------------------------------------------------------------------------------


def test_a_topic_that_is_ready_has_records_that_fit(kafka: Broker):
    topic = kafka.topic(partitions=2)
    kafka.send(topic, *['{"id": 1}'] * 150)

    [there, rights, newest] = lines(
        kafka_table(kafka, topic) + "INSERT INTO t SELECT id + 1 FROM t;"
    )

    assert there == ("ok", "topic", f"{topic} at {kafka.address}, 2 partitions")
    assert rights == ("ok", "rights", "READ and WRITE")
    assert newest[:2] == ("ok", "newest records")
    assert newest[2].endswith(" read, as 'json'")


def test_only_the_newest_records_of_a_partition_are_tried(kafka: Broker):
    topic = kafka.topic()
    kafka.send(topic, "old and bad", *['{"id": 1}'] * 100)

    assert lines(kafka_table(kafka, topic) + "SELECT * FROM t;")[-1] == (
        "ok",
        "newest records",
        "100 read, as 'json'",
    )


def test_a_record_that_does_not_fit_is_named(kafka: Broker):
    topic = kafka.topic()
    kafka.send(topic, '{"id": 1}', '{"id": "one"}')

    [*_, newest] = lines(kafka_table(kafka, topic) + "SELECT id FROM t;")

    assert newest[:2] == ("missing", "newest records")
    assert f"topic {topic}, partition 0, offset 1" in newest[2]


def test_columns_that_no_record_has_are_a_doubt(kafka: Broker):
    topic = kafka.topic()
    kafka.send(topic, '{"id": 1}')
    script = kafka_table(kafka, topic, "id INT, `Name` STRING, unread INT")

    [*_, newest] = lines(script + "SELECT id, `Name` FROM t;")

    assert newest == ("warning", "newest records", "of 1 read, the column is always NULL: Name")


def test_records_that_are_skipped_are_a_doubt(kafka: Broker):
    topic = kafka.topic()
    kafka.send(topic, '{"id": 1}', "{")
    script = kafka_table(kafka, topic, **{"json.ignore__parse__errors": "true"})

    [*_, newest] = lines(script + "SELECT id FROM t;")

    assert newest[0] == "warning"
    assert newest[2] == "1 of 2 cannot be read and are skipped"


def test_a_topic_that_does_not_exist_is_missing_and_nothing_more_is_asked(kafka: Broker):
    [only] = found(kafka_table(kafka, "nowhere") + "INSERT INTO t VALUES (1);")

    assert (only.status, only.name) == ("missing", "topic")
    assert only.detail.startswith("the topic 'nowhere' does not exist")
    assert only.todo == "create it, or correct 'topic'"


def test_the_registry_of_a_format_is_asked(kafka: Broker):
    topic = kafka.topic()
    with running() as registry:
        avro = {"format": "avro-confluent", "avro-confluent.url": registry.url}
        script = kafka_table(kafka, topic, **avro) + "SELECT id FROM t;"
        [_, _, answers, newest] = lines(script)

    assert answers == ("ok", "schema registry", "answers")
    assert newest == ("ok", "newest records", "none yet")


# --- PostgreSQL --------------------------------------------------------------------------------


def test_tables_of_a_database_are_read_and_their_rights_asked(postgres: Postgres):
    table = postgres.table("id int PRIMARY KEY, n int", "(1, 2)")
    declared = (
        f"CREATE TABLE t (id INT, n INT, PRIMARY KEY (id) NOT ENFORCED) {postgres.options(table)};"
    )

    assert lines(declared + "INSERT INTO t SELECT id, n + 1 FROM t;")[1:] == [
        ("ok", "read", "columns and types fit"),
        ("ok", "write", "columns fit; INSERT, UPDATE, DELETE, CREATE"),
    ]


def test_a_column_that_the_database_lacks_is_missing(postgres: Postgres):
    table = postgres.table("id int")
    declared = f"CREATE TABLE t (id INT, amont INT) {postgres.options(table)};"

    [*_, read] = lines(declared + "SELECT amont FROM t;")

    assert read[:2] == ("missing", "read")
    assert read[2].startswith("column `amont` of ")


def test_a_table_that_joins_look_up_is_asked_too(postgres: Postgres):
    table = postgres.table("id int PRIMARY KEY")
    script = (
        f"CREATE TABLE t (id INT) {postgres.options(table)};"
        "CREATE TABLE o (id INT, p AS PROCTIME()) WITH ('connector' = 'datagen');"
        "SELECT o.id FROM o JOIN t FOR SYSTEM_TIME AS OF o.p ON o.id = t.id;"
    )

    assert {(finding.section, finding.name) for finding in found(script)} == {
        ("default_catalog.default_database.o (datagen)", "system"),
        ("default_catalog.default_database.t (jdbc)", "database"),
        ("default_catalog.default_database.t (jdbc)", "read"),
    }


def test_a_right_that_is_missing_is_named(postgres: Postgres):
    table, user = postgres.table("id int"), f"u{uuid.uuid4().hex[:8]}"
    postgres.run(f"CREATE USER {user} PASSWORD 'p'", f"GRANT SELECT ON {table} TO {user}")
    login = postgres.options(table, username=user, password="p")

    [_, read, write] = found(f"CREATE TABLE t (id INT) {login}; INSERT INTO t SELECT id FROM t;")

    assert (read.status, write.status) == ("ok", "missing")
    assert write.detail.startswith(f"user {user} lacks the right to INSERT on ")
    assert write.todo == f'GRANT INSERT ON "public"."{table}" TO {user}'


def test_rights_in_mysql_are_asked(mysql: MySql):
    table, user = mysql.table("id int PRIMARY KEY"), f"u{uuid.uuid4().hex[:8]}"
    mysql.run(f"CREATE USER {user} IDENTIFIED BY 'p'", f"GRANT SELECT, INSERT ON {table} TO {user}")
    own = f"CREATE TABLE t (id INT) {mysql.options(table)};"
    others = f"CREATE TABLE t (id INT) {mysql.options(table, username=user, password='p')};"
    insert = "INSERT INTO t SELECT id FROM t;"

    [there, read, write] = lines(own + insert)
    assert there == ("ok", "database", f"shop.{table} of {mysql.url.removeprefix('jdbc:')}")
    assert read == ("ok", "read", "columns and types fit; it has no rows yet")
    assert write == ("ok", "write", "columns fit; INSERT, CREATE, DROP")
    [_, read_of_other, missing] = found(others + insert)
    assert (read_of_other.status, missing.status) == ("ok", "missing")
    assert missing.detail == f"user {user}@% lacks the right to CREATE on `shop`.*"
    assert missing.todo == f"GRANT CREATE ON `shop`.* TO {user}@%"


def test_a_file_of_sqlite_is_looked_at(tmp_path: Path):
    sqlite = SqliteFile.new(tmp_path)
    table = sqlite.table("id int, at_ text", "(1, 'noon')")
    declared = f"CREATE TABLE t (id INT, at_ TIME(0)) {sqlite.options(table)};"

    assert lines(declared + "INSERT INTO t (id) SELECT id FROM t;") == [
        ("ok", "database", f"main.{table} of {sqlite.path}"),
        ("ok", "read", "columns and types fit"),
        ("ok", "write", "columns fit; the file and its folder can be written to"),
    ]
    [_, read] = lines(declared + "SELECT at_ FROM t;")
    assert read[:2] == ("missing", "read")
    assert read[2].startswith(f"column `at_` of {table} has a value that is not TIME(0)")


# --- what is asked -----------------------------------------------------------------------------


def test_a_table_that_the_script_makes_in_a_catalog_need_not_be_there(tmp_path: Path):
    catalog = (
        "CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', "
        f"'warehouse' = '{tmp_path}/w');"
    )
    made = (
        "CREATE DATABASE IF NOT EXISTS lake.own; CREATE TABLE IF NOT EXISTS lake.own.t (id INT);"
        "CREATE TABLE IF NOT EXISTS lake.`default`.t (id INT);"
    )
    used = "INSERT INTO lake.own.t SELECT id FROM lake.`default`.t;"
    assert lines(catalog + made + used) == [
        ("ok", "table", "lake.own.t does not exist yet; the script creates it"),
        ("ok", "table", "lake.default.t does not exist yet; the script creates it"),
    ]

    with connect(engine="local") as session:
        list(session.run(catalog + made))
    found = lines(catalog + made + used)
    assert [name for _, name, _ in found] == ["table", "write", "table", "read"]
    assert found[2][2] == "lake.default.t, empty"


def test_tables_that_nothing_uses_are_not_asked():
    script = (
        "CREATE TABLE t (id INT) WITH ('connector' = 'jdbc', "
        "'url' = 'jdbc:postgresql://nowhere/shop', 'table-name' = 't');"
    )

    assert [finding.name for finding in found(script)] == ["tables"]


def test_the_command_checks_a_script_and_fails_if_something_is_missing(tmp_path: Path, capsys):
    script = tmp_path / "s.sql"
    script.write_text(
        "CREATE TABLE t (id INT) WITH ('connector' = 'jdbc', "
        "'url' = 'jdbc:postgresql://localhost:1/shop', 'table-name' = 't'); SELECT id FROM t;"
    )

    assert main(["doctor", str(script), "--json"]) == 1

    [finding] = json.loads(capsys.readouterr().out)["findings"]
    assert finding["name"] == "database"
    assert finding["detail"].startswith("cannot connect to postgresql://localhost:1/shop")


# --- changes of PostgreSQL ---------------------------------------------------------------------


def test_a_table_whose_changes_can_be_read(postgres: Postgres):
    from tests.connectors.postgres_cdc.streams import captured, options

    name = captured(postgres, "id int primary key")
    declared = f"CREATE TABLE t (id INT) {options(postgres, name, slot__name='a_new_slot')};"

    assert [(status, about, said.split(" of ")[0]) for status, about, said in lines(
        declared + "SELECT id FROM t;"
    )] == [
        ("ok", "database", f"postgresql://127.0.0.1:{postgres.port}/postgres, whose wal_level is logical"),
        ("ok", "table", "columns, types and replica identity fit"),
        ("ok", "rights", "SELECT, REPLICATION"),
        ("ok", "publication", "'a_new_slot' will be created"),
        ("ok", "slot", "'a_new_slot' will be created"),
    ]  # fmt: skip
    assert postgres.rows("SELECT * FROM pg_replication_slots WHERE slot_name = 'a_new_slot'") == []


def test_a_table_without_the_rows_before_changes_is_found(postgres: Postgres):
    from tests.connectors.postgres_cdc.streams import captured, options

    name = captured(postgres, "id int primary key", full=False)
    findings = found(f"CREATE TABLE t (id INT) {options(postgres, name)}; SELECT id FROM t;")

    assert [finding.status for finding in findings] == ["ok", "missing"]
    assert "REPLICA IDENTITY FULL" in str(findings[-1].todo)


# --- changes of MySQL --------------------------------------------------------------------------


def test_a_table_whose_changes_are_in_the_log_of_mysql(mysql: MySql):
    from tests.connectors.mysql_cdc.streams import options

    name = mysql.table("id INT PRIMARY KEY")
    declared = f"CREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED) {options(mysql, name)};"

    assert [(status, about, said.split(",")[0]) for status, about, said in lines(
        declared + "SELECT id FROM t;"
    )] == [
        ("ok", "database", f"mysql://127.0.0.1:{mysql.port}/shop"),
        ("ok", "table", "columns and types fit"),
        ("ok", "rights", "SELECT"),
        ("ok", "log", "has all changes of rows"),
    ]  # fmt: skip


def test_a_log_of_mysql_that_leaves_out_columns_is_found(mysql: MySql):
    from tests.connectors.mysql_cdc.streams import options

    name = mysql.table("id INT PRIMARY KEY")
    mysql.run("SET GLOBAL binlog_row_image = 'MINIMAL'")
    try:
        findings = found(
            f"CREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED) {options(mysql, name)};"
            "SELECT id FROM t;"
        )
    finally:
        mysql.run("SET GLOBAL binlog_row_image = 'FULL'")

    assert [finding.status for finding in findings] == ["ok", "ok", "ok", "missing"]
    assert "SET GLOBAL binlog_row_image = 'FULL'" in str(findings[-1].todo)


def test_foreign_keys_that_leave_no_trace_in_the_log_of_mysql_are_a_doubt(mysql: MySql):
    from tests.connectors.mysql_cdc.streams import options

    parent = mysql.table("id INT PRIMARY KEY")
    name = mysql.table(f"id INT PRIMARY KEY REFERENCES {parent} (id) ON DELETE CASCADE")
    findings = found(
        f"CREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED) {options(mysql, name)};"
        "SELECT id FROM t;"
    )
    assert [finding.status for finding in findings] == ["ok", "warning", "ok", "ok"]
    assert "without a trace in the log" in findings[1].detail
