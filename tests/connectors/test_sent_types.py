"""Columns on their way from Spark to Arrow."""

import pytest

from tidemark import types as t
from tidemark.connectors.sent_types import fetched
from tidemark.errors import NotSupported


def test_months_leave_spark_as_a_number():
    assert fetched("n", t.Int()) == "`n`"
    months = "extract(YEAR FROM `n`) * 12 + extract(MONTH FROM `n`) AS `n`"
    assert fetched("n", t.YearMonthInterval()) == months


@pytest.mark.parametrize(
    "type_",
    [
        t.Array(t.YearMonthInterval()),
        t.Multiset(t.YearMonthInterval()),
        t.Row((t.Field("a", t.Array(t.YearMonthInterval())),)),
    ],
)
def test_months_inside_a_collection_cannot_leave_spark(type_):
    with pytest.raises(NotSupported, match="is not supported as a result"):
        fetched("terms", type_)
