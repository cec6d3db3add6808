"""Names of functions in other databases: the hint is SQL that runs."""

from __future__ import annotations

import pytest

from tidemark import functions
from tidemark.errors import SqlError, UnknownFunction
from tidemark.functions.elsewhere import INSTEAD
from tidemark.session.workspace import Workspace

TABLE = """
CREATE TABLE t (a TIMESTAMP(3), b TIMESTAMP(3), s STRING, ts TIMESTAMP(3), n BIGINT, x INT, xs ARRAY<STRING>) WITH ('connector' = 'datagen', 'number-of-rows' = '1');
"""


@pytest.mark.parametrize("written", sorted(set(INSTEAD.values())))
def test_what_is_suggested_can_be_planned(written):
    query = f"SELECT u.x FROM t {written}" if "UNNEST" in written else f"SELECT {written} FROM t"

    Workspace().plan_script(f"{TABLE} {query};")


def test_none_of_the_names_is_known():
    assert not [name for name in INSTEAD if functions.lookup(name) is not None]


@pytest.mark.parametrize("call", ["date_trunc('hour', ts)", "MEDIAN(x)", "STRING_AGG(s, ',')"])
def test_the_hint_is_what_to_write(call):
    with pytest.raises(UnknownFunction) as caught:
        Workspace().plan_script(f"{TABLE} SELECT {call} FROM t;")

    name = call.partition("(")[0].upper()
    assert caught.value.hint == f"write {INSTEAD[name]}"


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x) FROM t", "PERCENTILE(x, 0.5)"),
        ("SELECT LISTAGG(s) WITHIN GROUP (ORDER BY s) FROM t", "ARRAY_JOIN(ARRAY_SORT"),
        ("SELECT y FROM t, LATERAL TABLE(EXPLODE(xs)) AS u (y)", "CROSS JOIN UNNEST"),
        ("SELECT ik_words(s) FROM t", "CREATE FUNCTION ik_words AS"),
        ("SELECT y FROM t, LATERAL TABLE(parse_ua(s)) AS u (y)", "CREATE FUNCTION parse_ua AS"),
        ("SELECT TO_TIMESTAMP(n) FROM t", "TO_TIMESTAMP_LTZ(n, 3)"),
        ("SELECT CAST(x AS TEXT) FROM t", "STRING"),
    ],
)
def test_hints_where_calls_have_other_forms(query, hint):
    with pytest.raises(SqlError) as caught:
        Workspace().plan_script(f"{TABLE} {query};")

    assert hint in (caught.value.hint or "")
