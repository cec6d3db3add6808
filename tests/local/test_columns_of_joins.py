"""Joins of which only some columns are used emit the same rows as with all of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import tidemark

_WINDOW = "TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
_SAME_WINDOW = "a.k = b.k AND a.window_start = b.window_start AND a.window_end = b.window_end"
_NEAR = "a.k = b.k AND a.ts BETWEEN b.ts - INTERVAL '5' SECOND AND b.ts + INTERVAL '5' SECOND"
_WINDOWS = _WINDOW.format("orders"), _WINDOW.format("rates")
HOWS = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
JOINS = {
    **{
        f"{how}, {kind}{name}": f"{left} AS a {how} {right} AS b ON {on}{also}"
        for how in HOWS
        for kind, left, right, on in (
            ("windows", *_WINDOWS, _SAME_WINDOW),
            ("interval", "orders", "rates", _NEAR),
            ("regular", "orders", "rates", "a.k = b.k"),
        )
        for name, also in (("", ""), (", condition", " AND a.v < b.v"))
    },
    **{
        f"{how}, versions": f"orders AS a {how} versions FOR SYSTEM_TIME AS OF a.ts AS b ON a.k = b.k"
        for how in HOWS[:2]
    },
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> tidemark.Session:
    folder: Path = tmp_path_factory.mktemp("sides")
    session = tidemark.connect(engine="local")
    rows = {
        "orders": ["a,1,00:01", "b,2,00:02", "a,3,00:12", ",4,00:13", "c,5,00:24"],
        "rates": ["a,9,00:02", "a,2,00:04", "z,3,00:13", ",4,00:15", "c,1,00:44"],
    }
    for name, lines in rows.items():
        times = [line.replace("00:", "2024-05-06 10:00:") for line in lines]
        (folder / f"{name}.csv").write_text("".join(f"{line}\n" for line in times))
        session.sql(
            f"CREATE TABLE {name} (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)"
            f" WITH ('connector' = 'filesystem', 'path' = '{folder / name}.csv', 'format' = 'csv',"
            " 'csv.null-literal' = '')"
        )
    session.sql(
        "CREATE VIEW versions AS SELECT k, v, ts FROM (SELECT *, ROW_NUMBER()"
        " OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM rates) WHERE n = 1"
    )
    return session


def rows_of(session: tidemark.Session, query: str) -> Counter[tuple[object, ...]]:
    return Counter(tuple(row.values()) for row in session.sql(query).rows())


@pytest.mark.parametrize("join", JOINS)
def test_some_columns_of_a_join_are_those_of_all(session: tidemark.Session, join: str):
    of_all = rows_of(
        session, f"SELECT a.k AS ak, a.v AS av, b.k AS bk, b.v AS bv FROM {JOINS[join]}"
    )
    of_left = rows_of(session, f"SELECT a.k, a.v FROM {JOINS[join]}")
    of_right = rows_of(session, f"SELECT b.v FROM {JOINS[join]}")
    [count] = rows_of(session, f"SELECT COUNT(*) FROM {JOINS[join]}")

    assert of_all
    assert of_left == Counter(row[:2] for row in of_all.elements())
    assert of_right == Counter(row[3:] for row in of_all.elements())
    assert count == (of_all.total(),)
