"""What a job needs of its options and of the server, and what it says if that is not there."""

from __future__ import annotations

import uuid
from typing import Any

import pymysql
import pytest

from servers.mysql import PASSWORD, USER, MySql
from servers.mysql import server as own_server
from servers.ports import HOST
from tests.connectors import tables
from tests.connectors.change_streams import (
    check_not_read_in_batches,
    check_password_is_hidden,
)
from tests.connectors.mysql_cdc.streams import ONLY_MARIADB, Stream, options, table
from tidemark import connect
from tidemark.catalog.tables import Changelog
from tidemark.connectors import registry
from tidemark.connectors.mysql_cdc import options as o
from tidemark.connectors.mysql_cdc.captured import CapturedMysql, end_of_log
from tidemark.connectors.mysql_cdc.planning import look_at
from tidemark.connectors.mysql_cdc.positions import LogPosition
from tidemark.errors import (
    DataError,
    NotSupported,
    OptionError,
    PlanError,
    SetupError,
    SqlError,
)

KEYED = "id INT, x STRING, PRIMARY KEY (id) NOT ENFORCED"


def nowhere(columns: str = KEYED, **more: str) -> Any:
    """A table of a server that is not there: its options can be checked all the same."""
    return table(MySql(1, None), columns, "orders", **more)  # type: ignore[arg-type]


# --- options -----------------------------------------------------------------------------------


def test_a_snapshot_is_bounded_and_all_else_a_changelog():
    stream = registry.traits(nowhere())
    assert (stream.bounded, stream.changelog) == (False, Changelog.RETRACT)
    bounded = registry.traits(nowhere(scan__startup__mode="snapshot"))
    assert (bounded.bounded, bounded.changelog) == (True, Changelog.APPEND)


def test_options_of_flink_that_change_nothing_here_are_accepted():
    accepted = {
        "server-id": "5400-5408",
        "server-time-zone": "GMT+8",
        "scan.incremental.snapshot.enabled": "true",
        "scan.incremental.snapshot.chunk.size": "100",
        "scan.incremental.snapshot.chunk.key-column": "id",
        "scan.newly-added-table.enabled": "true",
        "connection.pool.size": "20",
        "connect.timeout": "5s",
        "heartbeat.interval": "10s",
        "debezium.snapshot.mode": "initial",
        "debezium.snapshot.locking.mode": "none",
        "debezium.min.row.count.to.stream.result": "0",
        "jdbc.properties.useSSL": "false",
        "jdbc.properties.serverTimezone": "Asia/Shanghai",
    }
    found = registry.options_of(nowhere(**accepted))
    assert found["heartbeat.interval"] == 10_000
    assert o.database_of(found).settings["ssl_disabled"]


@pytest.mark.parametrize(
    ("option", "error", "message"),
    [
        ({"table_name": "orders_.*"}, NotSupported, "a pattern as 'table-name'"),
        ({"database_name": "a|b"}, NotSupported, "a pattern as 'database-name'"),
        ({"debezium__snapshot__mode": "never"}, NotSupported, "'debezium.snapshot.mode'"),
        ({"debezium__skipped__operations": "d"}, NotSupported, "skipped.operations"),
        ({"jdbc__properties__autoDeserialize": "true"}, OptionError, "'autoDeserialize'"),
        ({"scan__startup__mode": "earliest"}, OptionError, "expected one of initial"),
        ({"scan__startup__mode": "timestamp"}, OptionError, "scan.startup.timestamp-millis"),
        ({"scan__startup__mode": "specific-offset"}, OptionError, "specific-offset.file"),
        ({"scan__startup__specific_offset__skip_rows": "1"}, OptionError, "skip-rows' must be 0"),
        ({"server_time_zone": "Mars/Base"}, OptionError, "unknown time zone 'Mars/Base'"),
        ({"server_id": "me"}, OptionError, "'me' is not a server ID"),
        ({"server_idd": "5400"}, OptionError, "unknown option 'server-idd'"),
    ],
)
def test_an_option_that_cannot_be_is_refused_by_name(option, error, message):
    with pytest.raises(error, match=message) as caught:
        registry.options_of(nowhere(**option))
    assert isinstance(caught.value, SqlError) and caught.value.at is not None


def test_a_set_of_gtids_is_refused():
    gtids = {"scan.startup.specific-offset.gtid-set": "24DA167-0C0C-11E8-8442-00059A3C7B00:1-19"}
    with pytest.raises(NotSupported, match="gtid-set"):
        registry.options_of(nowhere(scan__startup__mode="specific-offset", **gtids))


def test_a_primary_key_is_required_as_in_flink():
    with pytest.raises(PlanError, match="needs a primary key"):
        registry.options_of(nowhere("id INT"))
    registry.options_of(nowhere("id INT", scan__incremental__snapshot__enabled="false"))


def test_the_password_is_not_shown(mysql):
    declared, wrong = (
        table(mysql, KEYED, "orders", **more) for more in ({}, {"password": "wrong one"})
    )
    check_password_is_hidden(PASSWORD, declared, wrong, CapturedMysql.of, look_at)


def test_an_unbounded_table_is_not_read_in_a_batch():
    check_not_read_in_batches(nowhere())


def test_a_bounded_table_is_queried_without_spark(mysql):
    name = mysql.table("id INT PRIMARY KEY, x TEXT", "(1, 'a')")
    with connect(engine="local", options={"execution.runtime-mode": "batch"}) as session:
        *_, result = session.run(
            f"CREATE TABLE t ({KEYED}) {options(mysql, name, scan__startup__mode='snapshot')};"
            "SELECT x, id FROM t;"
        )
        assert [*result.rows()] == [{"x": "a", "id": 1}]  # type: ignore[union-attr]


# --- the table ---------------------------------------------------------------------------------


def test_a_table_that_is_bounded_is_read_as_it_is(mysql):
    name = mysql.table("id INT, x TEXT, t TIMESTAMP", "(1, 'a', '2024-01-01 00:00:00')")
    columns = "X STRING, t TIMESTAMP(0), id INT, PRIMARY KEY (id) NOT ENFORCED"
    snapshot = {"scan__startup__mode": "snapshot", "server_time_zone": "-03:30"}
    declared = table(mysql, columns, name, **snapshot)

    [(x, at, id_)] = tables.frame(declared).rows()
    assert (x, str(at), id_) == ("a", "2023-12-31 20:30:00", 1)
    assert tables.frame(declared, read=frozenset()).rows() == [(None, None, None)]


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        ("TABLE {} (id INT PRIMARY KEY)", DataError, "column `x` of .* does not exist"),
        ("VIEW {} AS SELECT 1 AS id, 'x' AS x", SetupError, "it is a view"),
        ("TABLE {} (id INT, x TEXT) ENGINE = MyISAM", SetupError, "MyISAM has no transactions"),
        pytest.param(
            "TABLE {} (id INT, x TEXT) WITH SYSTEM VERSIONING",
            SetupError,
            "system-versioned",
            marks=ONLY_MARIADB,
        ),
        ("TABLE {} (id DOUBLE, x TEXT)", DataError, "which cannot be read as INT"),
        ("TABLE {}_ (id INT, x TEXT)", DataError, "does not exist in the database"),
    ],
)
def test_a_table_that_does_not_fit_is_an_error_at_once(mysql, made, error, message):
    name = f"n{uuid.uuid4().hex[:8]}"
    mysql.run(f"CREATE {made.format(name)}")
    with pytest.raises(error, match=message):
        look_at(tables.columns_request(table(mysql, KEYED, name)))


def test_a_snapshot_of_mysql_needs_the_key_of_its_table(mysql, tmp_path, monkeypatch):
    from tidemark.connectors.mysql_cdc import snapshots

    monkeypatch.setattr(snapshots, "_seen", lambda connection: None)
    name = mysql.table("id INT, k INT, x TEXT, PRIMARY KEY (k, id)")
    with (
        pytest.raises(SetupError, match=r"the primary key of .* is needed") as caught,
        Stream(mysql, table(mysql, KEYED, name), tmp_path),
    ):
        pass
    assert caught.value.hint == "declare its columns: id, k"


# --- the server --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "value", "back"),
    [
        ("binlog_format", "'MIXED'", "'ROW'"),
        ("binlog_row_image", "'MINIMAL'", "'FULL'"),
        pytest.param("log_bin_compress", "ON", "OFF", marks=ONLY_MARIADB),
    ],
)
def test_a_setting_that_leaves_out_changes_is_an_error(mysql, setting, value, back):
    name = mysql.table("id INT PRIMARY KEY, x TEXT")
    mysql.run(f"SET GLOBAL {setting} = {value}")
    try:
        with pytest.raises(SetupError, match="does not log changes of rows") as caught:
            look_at(tables.columns_request(table(mysql, KEYED, name)))
    finally:
        mysql.run(f"SET GLOBAL {setting} = {back}")
    assert setting in caught.value.notes
    assert f"SET GLOBAL {setting} = " in (caught.value.hint or "")


def test_a_server_without_a_log_is_an_error():
    with own_server("--skip-log-bin", "--binlog-ignore-db=shop") as mysql:
        name = mysql.table("id INT PRIMARY KEY, x TEXT")
        with pytest.raises(SetupError, match="does not log") as caught:
            look_at(tables.columns_request(table(mysql, KEYED, name)))
        assert "--log-bin" in (caught.value.hint or "")


def test_a_database_that_is_left_out_of_the_log_is_an_error():
    with own_server("--binlog-ignore-db=shop") as mysql:
        name = mysql.table("id INT PRIMARY KEY, x TEXT")
        with pytest.raises(SetupError, match="does not log changes of database shop") as caught:
            look_at(tables.columns_request(table(mysql, KEYED, name)))
        assert caught.value.notes["Binlog_Ignore_DB"] == "shop"


def test_a_user_without_rights_is_told_which(mysql, tmp_path):
    name = mysql.table("id INT PRIMARY KEY, x TEXT", "(1, 'a')")
    user = f"u{uuid.uuid4().hex[:8]}"
    mysql.run(
        f"CREATE USER {user}@'{HOST}' IDENTIFIED BY 'p'",
        f"GRANT SELECT ON shop.* TO {user}@'{HOST}'",
    )
    declared = table(mysql, KEYED, name, username=user, password="p")
    with pytest.raises(SetupError, match="may not ask where the log") as caught:
        look_at(tables.columns_request(declared))
    assert "GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.*" in (caught.value.hint or "")

    mysql.run(f"GRANT REPLICATION CLIENT ON *.* TO {user}@'{HOST}'")
    with (
        pytest.raises(SetupError, match=r"changes of .* cannot be read") as caught,
        Stream(mysql, declared, tmp_path),
    ):
        pass
    assert "GRANT REPLICATION SLAVE" in (caught.value.hint or "")

    mysql.run(f"GRANT REPLICATION SLAVE ON *.* TO {user}@'{HOST}'")
    with Stream(mysql, declared, tmp_path) as stream:
        assert stream.step() == [("+I", 1, "a")]
        mysql.run(f"DELETE FROM {name}")
        assert stream.step() == [("-D", 1, "a")]
    assert user != USER


def test_a_user_who_may_not_see_all_columns_is_told_so(mysql):
    name = mysql.table("id INT PRIMARY KEY, secret INT, x TEXT")
    user = f"u{uuid.uuid4().hex[:8]}"
    mysql.run(
        f"CREATE USER {user}@'{HOST}' IDENTIFIED BY 'p'",
        f"GRANT SELECT (id, x) ON {name} TO {user}@'{HOST}'",
        f"GRANT REPLICATION CLIENT ON *.* TO {user}@'{HOST}'",
    )
    declared = table(mysql, KEYED, name, username=user, password="p")
    with pytest.raises(SetupError, match="may not read all columns") as caught:
        look_at(tables.columns_request(declared))
    assert f"GRANT SELECT ON `shop`.`{name}` TO {user}" in (caught.value.hint or "")


class NewerServer:
    """A connection to MySQL 8.4, which has no masters any more."""

    description = (("File",), ("Position",), ("Executed_Gtid_Set",))

    def cursor(self) -> Any:
        return self

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None: ...

    def execute(self, statement: str) -> None:
        if "MASTER" in statement:
            raise pymysql.err.ProgrammingError(1064, "You have an error in your SQL syntax")
        assert statement == "SHOW BINARY LOG STATUS"

    def fetchall(self) -> list[tuple[str, ...]]:
        return [("binlog.000007", "1234", "")]


def test_newer_servers_are_asked_in_other_words():
    captured = CapturedMysql.of(tables.columns_request(nowhere()))
    found = end_of_log(NewerServer(), captured)  # type: ignore[arg-type]
    assert found == LogPosition("binlog.000007", 1234)
