"""TO_CHANGELOG and FROM_CHANGELOG in queries, over changes at random."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import tidemark
from tests.searching import searched

CODES = {"+I": "c", "-U": "b", "+U": "u", "-D": "d"}
MAPPING = "MAP['c', 'INSERT', 'b', 'UPDATE_BEFORE', 'u', 'UPDATE_AFTER', 'd', 'DELETE']"
BACK = "MAP['INSERT', 'c', 'UPDATE_BEFORE', 'b', 'UPDATE_AFTER', 'u', 'DELETE', 'd']"

# What happens to rows: the key, and its new value; None deletes its row.
happenings = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9) | st.none()), max_size=20)


def changes_of(happenings) -> list[tuple[str, int, int]]:
    """A changelog of rows `key value`, in which each row is deleted or updated as it is."""
    rows: dict[int, int] = {}
    changes = []
    for key, value in happenings:
        old = rows.pop(key, None)
        if old is not None:
            changes.append(("-D" if value is None else "-U", key, old))
        if value is not None:
            changes.append(("+I" if old is None else "+U", key, value))
            rows[key] = value
    return changes


def asked(changes, query: str) -> list[tuple[object, ...]]:
    with tempfile.TemporaryDirectory() as folder:
        lines = [{"op": CODES[kind], "id": key, "v": value} for kind, key, value in changes]
        path = Path(folder, "log.json")
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        session = tidemark.connect(engine="local")
        session.sql(
            "CREATE TABLE log (op STRING, id INT, v INT) WITH ('connector' = 'filesystem', "
            f"'path' = '{path}', 'format' = 'json')"
        )
        session.sql(
            "CREATE VIEW t AS SELECT * FROM FROM_CHANGELOG(input => TABLE log, "
            f"op_mapping => {MAPPING})"
        )
        return [(c.kind, *c.row.values()) for c in session.sql(query).changes()]


@searched(8)
@given(happenings)
def test_a_table_is_the_same_after_both_functions(happened):
    changes = changes_of(happened)
    there = f"SELECT * FROM TO_CHANGELOG(input => TABLE t, op_mapping => {BACK})"

    assert asked(changes, "SELECT * FROM t") == changes
    assert asked(changes, there) == [("+I", CODES[kind], *row) for kind, *row in changes]
    again = f"SELECT * FROM FROM_CHANGELOG(input => ({there}), op_mapping => {MAPPING})"
    assert asked(changes, again) == changes


@searched(8)
@given(happenings)
def test_groups_above_are_those_of_the_rows_that_are_left(happened):
    left = {}
    for key, value in happened:
        left[key] = value
    counted = Counter(value for value in left.values() if value is not None)

    changes = asked(changes_of(happened), "SELECT v, COUNT(*) AS n FROM t GROUP BY v")
    found: Counter[int] = Counter()
    for kind, value, count in changes:
        found[value] += count if kind in ("+I", "+U") else -count
    assert +found == counted


@searched(8)
@given(happenings)
def test_changes_of_groups_lead_to_the_groups(happened):
    """TO_CHANGELOG over GROUP BY, read back by FROM_CHANGELOG, is the GROUP BY."""
    changes = changes_of(happened)
    grouped = "SELECT v, COUNT(*) AS n FROM t GROUP BY v"
    coded = f"SELECT * FROM TO_CHANGELOG(input => ({grouped}))"

    again = f"SELECT * FROM FROM_CHANGELOG(input => ({coded}))"
    assert asked(changes, again) == asked(changes, grouped)
