"""Values of chance in columns: their form, and that they are independent."""

import re

import pytest

from tests.columns.computing import computed, values_of
from tidemark.columns import NotInColumns
from tidemark.errors import DataError

ROWS = {"a INT": list(range(1000))}


def test_uuids_are_of_version_4_and_differ():
    found = values_of("UUID()", ROWS)

    assert len(set(found)) == 1000
    form = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
    assert all(re.fullmatch(form, each) for each in found)


def test_numbers_are_in_their_bounds_and_differ():
    found = computed(["RAND()", "RAND_INTEGER(3)", "RAND_INTEGER(a + 1)"], ROWS)

    assert found["RAND()"].is_between(0, 1, closed="left").all()
    assert found["RAND()"].n_unique() == 1000
    assert set(found["RAND_INTEGER(3)"]) == {0, 1, 2}
    assert all(
        0 <= n <= a for a, n in zip(ROWS["a INT"], found["RAND_INTEGER(a + 1)"], strict=True)
    )


@pytest.mark.parametrize("bound", ["0", "-1", "a", "a - 1"])
def test_a_bound_of_random_integers_is_positive(bound):
    with pytest.raises(DataError, match="the bound of RAND_INTEGER must be positive"):
        values_of(f"RAND_INTEGER({bound})", ROWS)


@pytest.mark.parametrize("expression", ["UUID() = UUID()", "RAND() = RAND()"])
def test_two_calls_are_independent(expression):
    assert set(values_of(expression, ROWS)) == {False}


def test_a_value_that_is_read_twice_is_one():
    assert set(values_of("NULLIF(UUID(), 'x') IS NULL OR RAND() < 2", ROWS)) == {True}
    assert set(values_of("CHAR_LENGTH(SUBSTRING(UUID(), 1, 8) || SUBSTRING(UUID(), 9))", ROWS)) == {
        36
    }


def test_no_rows_have_no_values():
    assert values_of("UUID()", {"a INT": []}) == []


@pytest.mark.parametrize("expression", ["RAND(5)", "RAND_INTEGER(5, 10)"])
def test_a_seed_needs_spark(expression):
    with pytest.raises(NotInColumns, match="with a seed"):
        values_of(expression)
