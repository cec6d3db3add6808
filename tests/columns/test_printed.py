"""Numbers by the digits that they are printed with; the reference is Python's `decimal`."""

import math
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.columns.computing import values_of

_EXACT = Context(prec=1200)
_TIES = st.builds(
    lambda digits, places: digits * 5 / 10**places, st.integers(-(10**9), 10**9), st.integers(0, 20)
)
_NEIGHBORS = st.builds(math.nextafter, _TIES, st.sampled_from([-math.inf, math.inf]))
_DOUBLES = st.lists(
    st.one_of(st.none(), _TIES, _NEIGHBORS, st.floats(-1e17, 1e17), st.floats(allow_nan=False)),
    min_size=1,
)


@pytest.mark.parametrize(("name", "rounding"), [("ROUND", ROUND_HALF_UP), ("TRUNCATE", ROUND_DOWN)])
@given(values=_DOUBLES, places=st.integers(0, 17))
def test_doubles_are_rounded_by_their_digits(name, rounding, values, places):
    expected = [_to_places(value, places, rounding) for value in values]

    assert values_of(f"{name}(d, {places})", {"d DOUBLE": values}) == expected


def _to_places(value, places, rounding):
    if value is None or math.isinf(value):
        return value
    unit = Decimal(1).scaleb(-places)
    return float(Decimal(repr(value)).quantize(unit, rounding, _EXACT))


@given(values=_DOUBLES, precision=st.integers(1, 38), data=st.data())
def test_doubles_become_the_decimals_of_their_digits(values, precision, data):
    scale = data.draw(st.integers(0, precision))
    expected = [
        None if v is None or math.isinf(v) else _fitting(repr(v), precision, scale) for v in values
    ]

    cast = f"CAST(d AS DECIMAL({precision}, {scale}))"
    assert values_of(cast, {"d DOUBLE": values}) == expected


_SPELLED = st.from_regex(
    r"[+-]?([0-9]{1,45}[.]?[0-9]{0,45}|[.][0-9]{1,45})([eE][+-]?[0-9]{1,3})?", fullmatch=True
)


@given(values=st.lists(_SPELLED, min_size=1), precision=st.integers(1, 38), data=st.data())
def test_strings_become_the_decimals_that_they_spell(values, precision, data):
    scale = data.draw(st.integers(0, precision))
    expected = [_fitting(value, precision, scale) for value in values]

    cast = f"TRY_CAST(s AS DECIMAL({precision}, {scale}))"
    assert values_of(cast, {"s STRING": values}) == expected


@pytest.mark.parametrize("exponent", ["9999999999", "-9999999999", "+12345678901"])
def test_strings_with_exponents_that_no_number_has_are_no_decimals(exponent):
    values = [f"1e{exponent}", f"0E{exponent}", "1e00000000002"]
    expected = [None, None, Decimal(100)]
    assert values_of("TRY_CAST(s AS DECIMAL(10, 0))", {"s STRING": values}) == expected


def _fitting(spelled, precision, scale):
    number = Decimal(spelled).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, _EXACT)
    return number if abs(number) < Decimal(10) ** (precision - scale) else None


@given(
    pairs=st.lists(
        st.tuples(st.integers(-(10**38) + 1, 10**38 - 1), st.integers(1, 10**38 - 1)), min_size=1
    )
)
def test_quotients_of_long_decimals_are_rounded_half_up(pairs):
    tops, bottoms = (
        [Decimal(f"{digits}e-2") for digits in side] for side in zip(*pairs, strict=True)
    )
    expected = [
        _fitting(_EXACT.divide(top, bottom), 38, 6)
        for top, bottom in zip(tops, bottoms, strict=True)
    ]

    columns = {"a DECIMAL(38, 2)": tops, "b DECIMAL(38, 2)": bottoms}
    assert values_of("a / b", columns) == expected
