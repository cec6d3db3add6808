"""Catalogs of Iceberg: what is declared in them lasts, unless a script is only planned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tidemark import connect
from tidemark.connectors.iceberg.options import catalog_properties, catalog_type
from tidemark.errors import CatalogError, NotSupported, OptionError, TidemarkError
from tidemark.session.workspace import Workspace

BATCH = "SET 'execution.runtime-mode' = 'batch'; SET 'table.dml-sync' = 'true';"


def catalog(folder: Path, kind: str = "hadoop", **more: str) -> str:
    options = {"type": "iceberg", "catalog-type": kind, "warehouse": f"{folder}/w"}
    if kind == "jdbc":
        options["uri"] = f"jdbc:sqlite:{folder}/catalog.db"
    options |= {key.replace("_", "-"): value for key, value in more.items()}
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    return f"{BATCH} CREATE CATALOG lake WITH ({listed}); USE CATALOG lake;"


def rows(script: str) -> list[tuple[Any, ...]]:
    """The rows of a script's last statement."""
    with connect(engine="local") as session:
        *_, last = session.run(script)
        return sorted((tuple(row.values()) for row in last.rows()), key=str)


def files(folder: Path) -> list[str]:
    return [str(path) for path in sorted((folder / "w").rglob("*")) if path.is_file()]


@pytest.mark.parametrize("kind", ["hadoop", "jdbc"])
def test_tables_last_until_they_are_dropped(tmp_path, kind):
    declared = catalog(tmp_path, kind)
    rows(
        f"""{declared} CREATE DATABASE shop; USE shop;
        CREATE TABLE orders (id BIGINT, who STRING COMMENT 'a name', PRIMARY KEY (id) NOT ENFORCED)
          COMMENT 'all of them' PARTITIONED BY (who) WITH ('write.upsert.enabled' = 'true');
        INSERT INTO orders VALUES (1, 'ann'), (2, 'bob'); SHOW TABLES"""
    )

    assert rows(f"{declared} SHOW DATABASES") == [("default",), ("shop",)]
    assert rows(f"{declared} INSERT INTO shop.orders VALUES (1, 'cem'); SELECT * FROM shop.orders") == [
        (1, "cem"),
        (2, "bob"),
    ]  # fmt: skip
    [(shown,)] = rows(f"{declared} SHOW CREATE TABLE shop.orders")
    assert "who STRING COMMENT 'a name'" in shown
    assert "NOT ENFORCED\n) COMMENT 'all of them' PARTITIONED BY (who)" in shown
    assert "'write.upsert.enabled' = 'true'" in shown

    assert rows(f"{declared} DROP TABLE shop.orders; DROP DATABASE shop; SHOW DATABASES") == [
        ("default",)
    ]
    assert files(tmp_path) == []


def test_a_table_of_a_query_and_one_like_it(tmp_path):
    declared = catalog(tmp_path, default_database="own")
    rows(
        f"""{declared} CREATE TABLE t AS SELECT x, CAST(ts AS TIMESTAMP(6)) AS ts
        FROM (VALUES (1, TIMESTAMP '2024-05-01 10:00:00')) AS v(x, ts); SHOW TABLES"""
    )

    like = "CREATE TEMPORARY TABLE u (twice AS x * 2, WATERMARK FOR ts AS ts) LIKE t;"
    assert rows(f"{declared} {like} SELECT x, twice FROM u") == [(1, 2)]
    assert rows(f"{declared} CREATE TABLE s LIKE t; SELECT * FROM s") == []
    assert rows(f"{declared} SHOW TABLES") == [("s",), ("t",)]


@pytest.mark.parametrize("runs", [True, False])
def test_tables_are_altered(tmp_path, runs):
    declared = catalog(tmp_path, "jdbc")
    rows(f"{declared} CREATE TABLE t (a INT); INSERT INTO t VALUES (1); SHOW TABLES")
    altered = (
        "ALTER TABLE t RENAME TO u; ALTER TABLE u ADD b STRING;"
        "ALTER TABLE u SET ('write.parquet.compression-codec' = 'gzip', 'read.split.target-size' = '1');"
        "ALTER TABLE u RESET ('read.split.target-size');"
    )
    if not runs:
        Workspace().plan_script(f"{declared} {altered} INSERT INTO u VALUES (2, 'x')")
        assert rows(f"{declared} SELECT * FROM t") == [(1,)]
        return

    assert rows(f"{declared} {altered} INSERT INTO u VALUES (2, 'x'); SELECT * FROM u") == [
        (1, None),
        (2, "x"),
    ]
    [(shown,)] = rows(f"{declared} SHOW CREATE TABLE u")
    assert "'write.parquet.compression-codec' = 'gzip'" in shown
    assert "split" not in shown


def test_a_table_in_folders_is_not_renamed(tmp_path):
    declared = catalog(tmp_path)
    rows(f"{declared} CREATE TABLE t (a INT); INSERT INTO t VALUES (1); SHOW TABLES")

    with pytest.raises(NotSupported, match="same in Flink"):
        rows(f"{declared} ALTER TABLE t RENAME TO u; SHOW TABLES")
    assert rows(f"{declared} SELECT * FROM t") == [(1,)]


def test_types_are_those_of_flink(tmp_path):
    types = [
        "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(9, 2)", "BOOLEAN", "STRING", "BYTES", "DATE",
        "TIMESTAMP(6)", "TIMESTAMP_LTZ(6)", "ARRAY<INT>", "MAP<STRING, INT>", "ROW<x INT>",
    ]  # fmt: skip
    listed = ", ".join(f"c{place:02} {type_}" for place, type_ in enumerate(types))
    declared = catalog(tmp_path)
    rows(f"{declared} CREATE TABLE t (a SMALLINT NOT NULL, {listed}); SHOW TABLES")

    (_, smallest, null, *_), *others = rows(f"{declared} DESCRIBE t")
    assert (smallest, null) == ("INT", False)
    assert [type_.replace(" NOT NULL", "").replace("`", "") for _, type_, *_ in others] == types


def test_a_script_that_is_only_planned_changes_nothing(tmp_path):
    declared = catalog(tmp_path)
    rows(f"{declared} CREATE DATABASE shop; CREATE TABLE shop.first (id INT); SHOW TABLES")
    before = files(tmp_path)

    planned = Workspace().plan_script(
        f"""{declared} CREATE TABLE shop.fresh (id INT); CREATE DATABASE other;
        CREATE TABLE other.t (id INT); INSERT INTO shop.fresh SELECT id FROM shop.first;
        DROP TABLE shop.first; SHOW TABLES FROM shop"""
    )

    assert planned[-1].result is not None
    assert list(planned[-1].result.rows) == [("fresh",)]
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("CREATE VIEW v AS SELECT 1", "an Iceberg catalog has no views"),
        ("CREATE TABLE t (a INT, b AS a)", "which an Iceberg catalog does not keep"),
        ("CREATE TABLE t (a INT) WITH ('connector' = 'print')", "has the connector 'print'"),
        ("CREATE TABLE t (a INT); ALTER TABLE t MODIFY a BIGINT", "only properties can be changed"),
        ("CREATE TABLE t (a INT, b INT); ALTER TABLE t DROP b", "only properties can be changed"),
        (
            "CREATE TABLE t (a INT); ALTER TABLE t SET ('uri' = 'x')",
            "only properties can be changed",
        ),
        ("CREATE TABLE t (a INT); ALTER TABLE t ADD w AS a + 1", "only properties can be changed"),
        ("CREATE TABLE t (a INT); CREATE OR REPLACE TABLE t (a INT)", "keeps its rows"),
        ("CREATE TABLE t (a INT); REPLACE TABLE t AS SELECT 1 AS a", "keeps its rows"),
        ("CREATE DATABASE d; ALTER DATABASE d SET ('a' = 'b')", "cannot be altered here"),
    ],
)
def test_what_an_iceberg_catalog_does_not_keep_is_refused(tmp_path, statement, message):
    with pytest.raises(CatalogError, match=message):
        rows(f"{catalog(tmp_path)} {statement}; SHOW TABLES")


def test_temporary_tables_and_views_may_be_in_it(tmp_path):
    script = """CREATE TEMPORARY TABLE t (a INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1',
      'fields.a.min' = '7', 'fields.a.max' = '7'); CREATE TEMPORARY VIEW v AS SELECT a + 1 AS b FROM t;"""

    assert rows(f"{catalog(tmp_path)} {script} SELECT * FROM v") == [(8,)]


@pytest.mark.parametrize(
    ("options", "message", "marked"),
    [
        ({"bogus": "1"}, "unknown option 'bogus'", "'bogus' = '1'"),
        ({"catalog_type": "nessie"}, "is not supported yet", "'catalog-type' = 'nessie'"),
        ({"catalog_type": "hive"}, "requires 'uri'", "'catalog-type' = 'hive'"),
        ({"catalog_impl": "a.B"}, "'a.B' is not supported yet", "'catalog-impl' = 'a.B'"),
    ],
)
def test_mistakes_are_found_at_the_options_of_the_catalog(tmp_path, options, message, marked):
    with pytest.raises(TidemarkError, match=message) as caught:
        Workspace().plan_script(catalog(tmp_path, **options))

    error: Any = caught.value
    assert error.source.text[error.at.start : error.at.end] == marked
    assert "table" not in error.notes


@pytest.mark.parametrize(
    ("implementation", "kind"),
    [
        ("org.apache.iceberg.rest.RESTCatalog", "rest"),
        ("org.apache.iceberg.aws.glue.GlueCatalog", "glue"),
        ("org.apache.iceberg.jdbc.JdbcCatalog", "jdbc"),
    ],
)
def test_a_class_of_iceberg_means_a_type(implementation, kind):
    assert catalog_type({"catalog-impl": implementation, "catalog-type": None}) == kind


def test_settings_of_aws_are_passed_on():
    given = {"client.region": "eu-west-1", "glue.endpoint": "http://g", "cache-enabled": True}

    assert catalog_properties(given) == {"client.region": "eu-west-1", "glue.endpoint": "http://g"}


def test_secrets_of_the_connection_are_never_shown(tmp_path):
    declared = catalog(tmp_path, "jdbc", token="t0ken", credential="cred:it")
    script = f"{declared} CREATE TABLE t (id INT);"

    shown = [rows(f"{script} SHOW CREATE CATALOG lake"), rows(f"{declared} SHOW CREATE TABLE t")]
    shown.append(rows(f"{declared} DESCRIBE CATALOG EXTENDED lake"))

    assert "t0ken" not in str(shown) and "cred:it" not in str(shown)


def test_a_catalog_without_a_type_of_its_own_says_what_is_missing(tmp_path):
    with pytest.raises(OptionError, match="requires 'uri'"):
        Workspace().plan_script("CREATE CATALOG lake WITH ('type' = 'iceberg')")


def test_a_database_whose_folder_has_other_files_is_not_dropped(tmp_path):
    other = tmp_path / "w" / "shop" / "notes.txt"
    other.parent.mkdir(parents=True)
    other.write_text("ours")
    with pytest.raises(CatalogError, match="its folder has other files"):
        rows(f"{catalog(tmp_path)} DROP DATABASE shop")
    assert other.exists()


@pytest.mark.parametrize("name", ["../t", "..", "a/b"])
def test_a_table_in_folders_stays_inside_of_them(tmp_path, name):
    with pytest.raises(CatalogError, match="cannot be a name"):
        rows(f"{catalog(tmp_path)} CREATE TABLE `{name}` (id INT)")
    assert files(tmp_path) == []
