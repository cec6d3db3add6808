"""Row kinds as codes and back, held to a loop over rows."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark.errors import DataError
from tidemark.kernels.columns import KIND
from tidemark.kernels.op_codes import coded, decoded

KINDS = ("+I", "-U", "+U", "-D")
CODES = st.text("cdu ,'INSERT", max_size=4)

changes = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 3)), max_size=12)
codes_of_kinds = st.dictionaries(st.sampled_from(KINDS), CODES, min_size=1)
kinds_of_codes = st.dictionaries(CODES, st.sampled_from(KINDS), min_size=1, max_size=6)


def frame_of(rows, names) -> pl.DataFrame:
    return pl.DataFrame(
        rows, {name: pl.Int64 if name == "v" else pl.String for name in names}, orient="row"
    )


def one_by_one(rows, codes):
    """The same, row by row."""
    found = []
    for kind, value in rows:
        if kind in codes:
            found.append((codes[kind], value))
    return found


@searched()
@given(rows=changes, codes=codes_of_kinds)
def test_changes_as_rows_are_those_of_a_loop(rows, codes):
    given = frame_of(rows, (KIND, "v"))

    assert coded(given, codes, "op").select("op", "v").rows() == one_by_one(rows, codes)


@searched()
@given(values=st.lists(st.integers(0, 3), max_size=5), codes=codes_of_kinds)
def test_rows_without_kinds_are_inserts(values, codes):
    given = pl.DataFrame({"v": values}, {"v": pl.Int64})

    expected = one_by_one([("+I", value) for value in values], codes)
    assert coded(given, codes, "op").select("op", "v").rows() == expected


@searched()
@given(
    rows=st.lists(st.tuples(CODES | st.none(), st.integers(0, 3)), max_size=8), kinds=kinds_of_codes
)
def test_rows_as_changes_are_those_of_a_loop(rows, kinds):
    given = frame_of(rows, ("op", "v"))

    unknown = [code for code, _ in rows if code not in kinds]
    if not unknown:
        assert decoded(given, "op", kinds).select(KIND, "v").rows() == one_by_one(rows, kinds)
        return
    with pytest.raises(DataError) as raised:
        decoded(given, "op", kinds)
    shown = "NULL" if unknown[0] is None else f"'{unknown[0]}'"
    assert raised.value.message.endswith(f"op code {shown}")


@searched()
@given(rows=changes, codes=st.permutations(["c", "d", "", " ,'"]))
def test_changes_survive_the_way_there_and_back(rows, codes):
    given = frame_of(rows, (KIND, "v"))
    there = dict(zip(KINDS, codes, strict=True))
    back = {code: kind for kind, code in there.items()}

    rows_again = coded(given, there, "op").drop(KIND)
    assert decoded(rows_again, "op", back).select(KIND, "v").equals(given)
