"""Values of all types are the same in the snapshot and in changes."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from servers.postgres import Postgres
from tests.connectors import tables
from tests.connectors.change_streams import check_types
from tests.connectors.postgres_cdc.streams import Stream, captured, table
from tests.connectors.test_jdbc_scan import UTC, VALUES
from tidemark.connectors.postgres_cdc.planning import look_at
from tidemark.errors import DataError

# Besides those of connector jdbc: columns of PostgreSQL, their types in Flink SQL, values.
MORE: dict[str, tuple[str, str, str, Any]] = {
    "inf": ("double precision", "DOUBLE", "'-Infinity'", float("-inf")),
    "tiny": ("real", "FLOAT", "'1e-45'", 1.401298464324817e-45),
    "d_max": ("numeric", "DECIMAL(38, 0)", "1e37", Decimal(10**37)),
    "d_many": ("numeric", "DECIMAL(4, 2)", "99.995", None),
    "d_half": ("numeric", "DECIMAL(4, 2)", "-0.005", Decimal("-0.01")),
    "flag": ("boolean", "STRING", "false", "false"),
    "flags": ("boolean[]", "ARRAY<STRING>", "'{t,NULL,f}'", ["true", None, "false"]),
    "flags2": ("boolean[]", "ARRAY<BOOLEAN>", "'{t,NULL,f}'", [True, None, False]),
    "address": ("inet", "STRING", "'1.2.3.4'", "1.2.3.4"),
    "addresses": ("inet[]", "ARRAY<STRING>", "'{1.2.3.4,10.0.0.0/8}'", ["1.2.3.4", "10.0.0.0/8"]),
    "span": ("interval", "STRING", "'1 day 02:00'", "1 day 02:00:00"),
    "pair": ("int4range", "STRING", "'[1,5)'", "[1,5)"),
    "micros": ("timestamptz", "TIMESTAMP_LTZ(6)", "'0001-01-01 00:00:00.000001+00'",
               dt.datetime(1, 1, 1, 0, 0, 0, 1, UTC)),
    "moment": ("timestamptz", "STRING", "'2024-01-01 00:00:00+02'", "2023-12-31 22:00:00+00"),
    "last": ("time", "TIME(3)", "'23:59:59.999999'", dt.time(23, 59, 59, 999_000)),
    "none": ("text[]", "ARRAY<STRING>", "'{}'", []),
    "words": ("text[]", "ARRAY<STRING>",
              r"""ARRAY['a,b', 'c"d', 'e\f', '', 'NULL', NULL, '{g}', E'h\ni', 'é']""",
              ["a,b", 'c"d', "e\\f", "", "NULL", None, "{g}", "h\ni", "é"]),
    "shifted": ("int[]", "ARRAY<INT>", "'[0:1]={7,8}'", [7, 8]),
    "times": ("timestamp[]", "ARRAY<TIMESTAMP(3)>", """'{"2024-01-01 00:00:00.123"}'""",
              [dt.datetime(2024, 1, 1, 0, 0, 0, 123_000)]),
    "bits": ("bytea[]", "ARRAY<BYTES>", r"""'{"\\x00ff",NULL}'""", [b"\x00\xff", None]),
    "mood": ("mood", "STRING", "'sad'", "sad"),
    "small": ("smaller", "INT", "5", 5),
    "smallest": ("smallest", "INT", "4", 4),
    "smalls": ("smallest[]", "ARRAY<INT>", "'{4,NULL}'", [4, None]),
    "price": ("price", "DECIMAL(6, 2)", "1.5", Decimal("1.50")),
    "prices": ("price[]", "ARRAY<DECIMAL(6, 2)>", "'{1.5}'", [Decimal("1.50")]),
    "yes": ("yes[]", "ARRAY<STRING>", "'{t,NULL}'", ["true", None]),
    "boxes": ("box[]", "ARRAY<STRING>", "'{(3,4),(1,2);NULL;(1,1),(0,0)}'",
              ["(3,4),(1,2)", None, "(1,1),(0,0)"]),
    "clocks": ("timestamptz", "TIMESTAMP(3)", "'2024-01-01 00:00:00+02'",
               dt.datetime(2023, 12, 31, 22)),
}  # fmt: skip
ALL = {**VALUES, **MORE}


@pytest.fixture(scope="module")
def own_types(postgres: Postgres) -> None:
    postgres.run(
        "DROP TYPE IF EXISTS mood CASCADE",
        "DROP DOMAIN IF EXISTS smaller, price, yes CASCADE",
        "CREATE TYPE mood AS ENUM ('sad', 'glad')",
        "CREATE DOMAIN smaller AS int CHECK (VALUE < 10)",
        "CREATE DOMAIN smallest AS smaller CHECK (VALUE < 5)",
        "CREATE DOMAIN price AS numeric(6, 2)",
        "CREATE DOMAIN yes AS boolean",
    )


@pytest.mark.usefixtures("own_types")
def test_values_of_each_type_are_the_same_in_the_snapshot_and_in_changes(postgres, tmp_path):
    row = ", ".join(value[2] for value in ALL.values())
    rows = f"({row})", f"({', '.join(['NULL'] * len(ALL))})"
    columns = ", ".join(f"{name} {value[0]}" for name, value in ALL.items())
    name = captured(postgres, columns, *rows)
    declared = ", ".join(f"`{name}` {value[1]}" for name, value in ALL.items())
    with Stream(postgres, table(postgres, declared, name), tmp_path) as stream:
        snapshot = stream.step()
        postgres.run(f"INSERT INTO {name} VALUES {', '.join(rows)}")
        changes = stream.step()

    expected = [tuple(value[3] for value in ALL.values()), (None,) * len(ALL)]
    for found in (snapshot, changes):
        check_types(found, expected, ALL)


@pytest.mark.parametrize(
    ("type_", "wanted", "value"),
    [
        ("timestamptz", "TIMESTAMP(3)", "'infinity'"),
        ("numeric", "DECIMAL(4, 2)", "'NaN'"),
        ("timestamp", "TIMESTAMP(3)", "'infinity'"),
        ("timestamptz", "TIMESTAMP_LTZ(3)", "'0044-03-15 00:00:00+00 BC'"),
        ("date", "DATE", "'20000-01-01'"),
        ("int[]", "ARRAY<INT>", "'{{1,2},{3,4}}'"),
    ],
)
def test_a_value_that_only_postgresql_has_is_an_error(
    postgres: Postgres, tmp_path: Path, type_: str, wanted: str, value: str
):
    name = captured(postgres, f"v {type_}")
    with Stream(postgres, table(postgres, f"v {wanted}", name), tmp_path) as stream:
        stream.step()
        postgres.run(f"INSERT INTO {name} VALUES ({value})")
        with pytest.raises(DataError, match=f"column `v` of public.{name} has a value that is not"):
            stream.step()


@pytest.mark.parametrize(
    ("type_", "wanted", "hint"),
    [
        ("numeric(10, 2)", "DOUBLE", "declare it as DECIMAL(10, 2)"),
        ("timestamp(3)", "TIMESTAMP_LTZ(3)", "declare it as TIMESTAMP(3)"),
        ("bigint[]", "ARRAY<INT>", "declare it as ARRAY<BIGINT>"),
        ("uuid", "BYTES", "declare it as STRING"),
    ],
)
def test_a_type_that_does_not_fit_is_an_error_with_one_that_does(postgres, type_, wanted, hint):
    name = captured(postgres, f"v {type_}")
    once = table(postgres, f"v {wanted}", name, scan__startup__mode="snapshot")
    for read in (
        lambda: look_at(tables.columns_request(table(postgres, f"v {wanted}", name))),
        lambda: tables.frame(once),
    ):
        with pytest.raises(DataError, match="which cannot be read as") as caught:
            read()
        assert caught.value.hint == hint


def test_a_column_may_get_a_type_that_fits(postgres, tmp_path):
    name = captured(postgres, "a int, b varchar(3)")
    with Stream(postgres, table(postgres, "a BIGINT, b STRING", name), tmp_path) as stream:
        stream.step()
        postgres.run(
            f"INSERT INTO {name} VALUES (1, 'a')",
            f"ALTER TABLE {name} ALTER a TYPE bigint, ALTER b TYPE text, ADD c int",
            f"INSERT INTO {name} VALUES (5000000000, 'long', 1)",
        )
        assert stream.step() == [("+I", 1, "a"), ("+I", 5_000_000_000, "long")]


def test_a_column_that_does_not_fit_any_more_is_an_error(postgres, tmp_path):
    name = captured(postgres, "a int, b int")
    with Stream(postgres, table(postgres, "a INT", name), tmp_path / "a") as stream:
        stream.step()
        postgres.run(f"ALTER TABLE {name} DROP b", f"INSERT INTO {name} VALUES (1)")
        assert stream.step() == [("+I", 1)]  # the other one is not read
        postgres.run(f"ALTER TABLE {name} ALTER a TYPE bigint", f"INSERT INTO {name} VALUES (2)")
        with pytest.raises(DataError, match=r"column `a` of .* is bigint, which cannot be read as"):
            stream.step()
    name = captured(postgres, "a int, b int")
    with Stream(postgres, table(postgres, "a INT", name), tmp_path / "b") as stream:
        stream.step()
        postgres.run(f"ALTER TABLE {name} RENAME a TO c", f"INSERT INTO {name} VALUES (1)")
        with pytest.raises(DataError, match=r"column `a` of .* is not in its changes"):
            stream.step()


def test_a_generated_column_is_refused_before_anything_is_read(postgres, tmp_path):
    name = captured(postgres, "a int, twice int GENERATED ALWAYS AS (a * 2) STORED")
    asked = tables.columns_request(table(postgres, "twice INT", name))
    with pytest.raises(DataError, match="generated column"):
        look_at(asked)
