"""Rows of which only some fields are converted have the values that all of them have there."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark import types as t
from tidemark.errors import DataError
from tidemark.formats.decoders import decoder

INNER = t.Row(fields=(t.Field("x", t.Int()), t.Field("y", t.STRING)))
WHOLE = t.Row(
    fields=(
        t.Field("a", t.BigInt()),
        t.Field("b", t.STRING),
        t.Field("in", INNER),
        t.Field("at", t.Timestamp(3)),
        t.Field("list", t.Array(element=t.Int())),
    )
)
FIELDS = (t.Field("id", t.Int()), t.Field("r", WHOLE))


def narrow(*names: str, inner: tuple[str, ...] = ("x", "y")) -> t.Row:
    below = t.Row(fields=tuple(each for each in INNER.fields if each.name in inner))
    kept = [each for each in WHOLE.fields if each.name in names]
    return t.Row(fields=tuple(t.Field("in", below) if each.name == "in" else each for each in kept))


def decoded(
    records: list[str], of_rows: t.Row | None = None, few: int = 0, **options: Any
) -> pl.DataFrame:
    named = {f"json.{name}": value for name, value in options.items()}
    read = decoder(
        "json", FIELDS, named, few=few, narrow=None if of_rows is None else {"r": of_rows}
    )
    return read("\n".join(records).encode()).rows


def without(value: Any, names: tuple[str, ...], inner: tuple[str, ...]) -> Any:
    """The row with only these fields, and the others NULL."""
    if value is None:
        return None
    kept = {name: each if name in names else None for name, each in value.items()}
    if kept["in"] is not None:
        kept["in"] = {name: each if name in inner else None for name, each in kept["in"].items()}
    return kept


def optional(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


ROWS = optional(
    st.fixed_dictionaries(
        {},
        optional={
            "a": optional(st.integers(-9, 9)),
            "b": optional(st.text(max_size=3)),
            "in": optional(
                st.fixed_dictionaries({}, optional={"x": st.integers(), "y": st.text(max_size=2)})
            ),
            "at": st.just("2024-05-06 10:00:00.123"),
            "list": optional(st.lists(st.integers(0, 3), max_size=2)),
            "unknown": st.integers(),
        },
    )
)
SOME = st.lists(st.sampled_from(["a", "b", "in", "at", "list"]), min_size=1, unique=True)


@searched(150)
@given(
    st.lists(ROWS, min_size=1, max_size=12),
    SOME,
    st.sampled_from([("x",), ("y",), ("x", "y")]),
    st.sampled_from([0, 100]),
)
def test_fields_that_are_read_have_their_values_and_the_others_none(
    rows: list[Any], names: list[str], inner: tuple[str, ...], few: int
):
    records = [json.dumps({"id": i, "r": row}) for i, row in enumerate(rows)]
    ignoring = {"ignore-parse-errors": True}  # numbers may be too large
    some = decoded(records, narrow(*names, inner=inner), few, **ignoring)
    every = decoded(records, None, few, **ignoring)

    assert some.schema == every.schema
    assert some["id"].to_list() == every["id"].to_list()
    assert some["r"].to_list() == [without(row, tuple(names), inner) for row in every["r"]]


def test_a_bad_value_is_an_error_only_if_its_field_is_read():
    records = ['{"id": 1, "r": {"a": "much", "b": "z"}}']

    assert decoded(records, narrow("b"))["r"][0]["b"] == "z"
    with pytest.raises(DataError, match="much"):
        decoded(records, narrow("a"))
