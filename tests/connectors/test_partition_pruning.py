"""Files of partitions that a filter leaves out are not read: what is in them cannot be read."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

import tidemark
from tidemark.connectors.base import ColumnsRequest
from tidemark.connectors.filesystem import file_parts, partition_pruning
from tidemark.connectors.filesystem.connector import parts
from tidemark.errors import DataError
from tidemark.local.sources import request_of
from tidemark.physical import Settings, physical_plan
from tidemark.plan.nodes import Scan

TABLE = """
CREATE TABLE t (v INT, dt DATE, shop STRING) PARTITIONED BY (dt, shop) WITH (
  'connector' = 'filesystem', 'path' = '{path}', 'format' = 'json')
"""
NONE = "__DEFAULT_PARTITION__"
FOLDERS = {
    ("2024-01-01", "a"): 1,
    ("2024-01-01", "b%2Fc"): 2,
    ("2024-01-02", "a"): 3,
    ("2024-01-02", NONE): 4,
    ("2024-01-03", "x"): None,
}


@pytest.fixture
def session(tmp_path: Path) -> tidemark.Session:
    """A table whose files of the last partition are damaged."""
    for (dt, shop), value in FOLDERS.items():
        folder = tmp_path / f"dt={dt}" / f"shop={shop}"
        folder.mkdir(parents=True)
        (folder / "1.json").write_text("damaged" if value is None else json.dumps({"v": value}))
    session = tidemark.connect(engine="local")
    session.sql(TABLE.format(path=tmp_path))
    return session


def values(session: tidemark.Session, where: str) -> list[int]:
    rows = session.sql(f"SELECT v FROM t WHERE {where}").rows()
    return sorted(row["v"] for row in rows)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("dt = DATE '2024-01-01'", [1, 2]),
        ("dt < DATE '2024-01-03' AND shop = 'a'", [1, 3]),
        ("shop = 'b/c'", [2]),
        ("shop IS NULL", [4]),
        ("shop IN ('a', 'b/c') AND v > 1", [2, 3]),
        ("CAST(dt AS STRING) LIKE '%-02'", [3, 4]),
        ("(dt = DATE '2024-01-01' OR shop = 'a') AND shop <> 'x'", [1, 2, 3]),
        ("dt > DATE '2030-01-01'", []),
    ],
)
@pytest.mark.parametrize("mode", ["streaming", "batch"])
def test_rows_are_those_that_meet_the_filter(
    session: tidemark.Session, mode: str, where: str, expected: list[int]
):
    session.sql(f"SET 'execution.runtime-mode' = '{mode}'")

    assert values(session, where) == expected


@pytest.mark.parametrize(
    "where", ["v > 0", "dt >= DATE '2024-01-03'", "dt = DATE '2024-01-03' OR v = 1"]
)
def test_a_partition_that_may_have_such_rows_is_read(session: tidemark.Session, where: str):
    with pytest.raises(DataError, match=r"1\.json"):
        values(session, where)


def test_a_view_over_the_partition_is_a_filter_like_any_other(session: tidemark.Session):
    session.sql(
        "CREATE VIEW early AS SELECT v, EXTRACT(DAY FROM dt) AS d FROM t WHERE v IS NOT NULL"
    )

    rows = session.sql("SELECT SUM(v) AS s FROM early WHERE d = 2").rows()

    assert rows[-1] == {"s": 7}


def test_a_name_that_is_no_value_is_an_error_only_where_it_is_read(
    session: tidemark.Session, tmp_path: Path
):
    folder = tmp_path / "dt=tomorrow" / "shop=z"
    folder.mkdir(parents=True)
    (folder / "1.json").write_text('{"v": 9}')

    assert values(session, "shop = 'a'") == [1, 3]
    with pytest.raises(DataError, match="cannot read the partition value `dt`"):
        values(session, "shop = 'z'")


def test_each_table_of_a_query_has_filters_of_its_own(session: tidemark.Session):
    rows = session.sql(
        "SELECT v FROM t WHERE dt = DATE '2024-01-01' UNION ALL "
        "SELECT v FROM t WHERE dt = DATE '2024-01-02' AND shop = 'a'"
    ).rows()

    assert sorted(row["v"] for row in rows) == [1, 2, 3]


def test_a_table_that_is_read_once_for_two_inputs_is_read_as_a_whole(session: tidemark.Session):
    side = "(SELECT v, shop FROM t WHERE dt = DATE '2024-01-0{}')"
    joined = (
        f"SELECT l.v, r.v AS w FROM {side.format(1)} AS l JOIN {side.format(2)} AS r "
        "ON l.shop = r.shop"
    )
    with pytest.raises(DataError, match=r"1\.json"):
        session.sql(joined).rows()

    session.sql("SET 'table.optimizer.reuse-source-enabled' = 'false'")
    assert session.sql(joined).rows() == [{"v": 1, "w": 3}]


def test_tasks_get_only_files_that_are_read(
    session: tidemark.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(file_parts, "_SHARED_FROM", 1)
    (tmp_path / "dt=2024-01-03" / "shop=x" / "1.json").write_text('{"v": 5}')
    request = asked(session, "SELECT v FROM t WHERE dt = DATE '2024-01-01'")

    found = [part.file for task in parts(request) or () for part in task]
    everything = [
        part.file for task in parts(replace(request, conditions=())) or () for part in task
    ]

    assert {Path(file).parent.parent.name for file in found} == {"dt=2024-01-01"}
    assert len(found) == 2
    assert len(everything) == len(FOLDERS)


def test_a_condition_that_only_spark_computes_leaves_out_nothing(
    session: tidemark.Session, tmp_path: Path
):
    request = asked(
        session, "SELECT v FROM t WHERE SIN(CHAR_LENGTH(shop)) > 2 AND dt < DATE '2024-01-02'"
    )
    may_have_rows = partition_pruning.may_have_rows(request)

    assert len(request.conditions) == 2
    assert may_have_rows(f"{tmp_path}/dt=2024-01-01/shop=long/1.json")
    assert not may_have_rows(f"{tmp_path}/dt=2024-01-02/shop=a/1.json")


def asked(session: tidemark.Session, sql: str) -> ColumnsRequest:
    [statement] = session.workspace.plan_script(sql)
    assert statement.plan is not None
    [root] = statement.plan.of_single_roots.roots
    [scan] = physical_plan(root, Settings(), streaming=False).scans
    assert isinstance(scan, Scan)
    return request_of(scan, "UTC", datetime.now(UTC))


def test_a_table_without_partitions_is_read_as_a_whole(session: tidemark.Session, tmp_path: Path):
    session.sql(
        f"CREATE TABLE whole (v INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', "
        "'format' = 'json')"
    )

    may_have_rows = partition_pruning.may_have_rows(
        asked(session, "SELECT v FROM whole WHERE v > 3")
    )

    assert may_have_rows(f"{tmp_path}/dt=2024-01-01/shop=a/1.json")
