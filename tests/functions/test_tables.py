"""The tables of functions as a whole."""

from collections import Counter

import pytest

from tidemark import functions
from tidemark.functions.registry import describe


def test_no_two_functions_share_a_name():
    names = Counter(
        name for table in functions.TABLES for f in table for name in (f.name, *f.aliases)
    )

    assert [name for name, count in names.items() if count > 1] == []


def test_what_is_declared_missing_is_missing():
    assert functions.NOT_YET.keys().isdisjoint(functions.BUILT_IN)
    assert all(functions.NOT_YET.values())


def test_functions_are_found_however_they_are_written():
    upper = functions.lookup("coalesce")

    assert upper is not None and upper.name == "COALESCE"
    assert functions.lookup("ceiling") is functions.lookup("CEIL")
    assert functions.lookup("nothing_like_it") is None


@pytest.mark.parametrize("name", sorted(functions.BUILT_IN))
def test_every_function_is_written_in_capitals_and_says_what_it_takes(name):
    assert name == name.upper()
    assert describe(functions.BUILT_IN[name])
