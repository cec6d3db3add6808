"""Decimals as PostgreSQL writes them, quick and with rounding."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal, localcontext

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark import types as t
from tidemark.connectors.postgres_cdc.columns.values import values_of


@st.composite
def numbers(draw: st.DrawFn) -> str:
    """Also those at the limits of types."""
    before = draw(st.sampled_from(["0", "1", "9", "12", "99", "123", "9" * 38, "1" + "0" * 37]))
    after = draw(st.sampled_from(["", ".0", ".5", ".05", ".005", ".994", ".995", "." + "9" * 38]))
    number = before + after
    return draw(st.sampled_from(["", "-"])) + number if Decimal(number) else number


@searched(100)
@given(
    st.lists(st.none() | numbers(), max_size=4),
    st.sampled_from([(1, 0), (2, 2), (4, 2), (5, 2), (38, 0), (38, 38), (38, 18)]),
)
def test_decimals_are_rounded_and_null_if_they_do_not_fit(strings, form):
    precision, scale = form

    def rounded(text: str | None) -> Decimal | None:
        with localcontext(prec=100):
            if text is None:
                return None
            number = Decimal(text).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
            return number if abs(number) < Decimal(10) ** (precision - scale) else None

    found = values_of(pl.Series("v", strings, pl.String), "numeric", t.Decimal(precision, scale))

    assert found is not None and found.dtype == pl.Decimal(precision, scale)
    assert found.to_list() == [rounded(text) for text in strings]
