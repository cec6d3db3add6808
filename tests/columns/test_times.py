"""Times in columns: moved, cut, and in zones whose clocks change."""

from datetime import UTC, date, datetime, time

import pytest

from tests.columns.computing import NOW, values_of

SUMMER = datetime(2024, 7, 1, 12, 0, 0, 123456)


@pytest.mark.parametrize(
    ("expression", "column", "value", "expected"),
    [
        ("x - INTERVAL '5' SECOND", "TIMESTAMP(3)", SUMMER, SUMMER.replace(minute=59, second=55, hour=11)),
        ("x + INTERVAL '1' MONTH", "DATE", date(2024, 1, 31), date(2024, 2, 29)),
        ("x - INTERVAL '1' HOUR", "DATE", date(2024, 1, 1), date(2024, 1, 1)),
        ("x - INTERVAL '25' HOUR", "DATE", date(2024, 1, 2), date(2024, 1, 1)),
        ("x + INTERVAL '1' HOUR", "TIME(0)", time(23, 30), time(0, 30)),
        ("x - INTERVAL '1' HOUR", "TIME(0)", time(0, 30), time(23, 30)),
        ("CAST(x AS TIMESTAMP(3))", "TIMESTAMP(6)", SUMMER, SUMMER.replace(microsecond=123000)),
        ("CAST(x AS DATE)", "TIMESTAMP(3)", SUMMER, date(2024, 7, 1)),
        ("CAST(x AS TIME(0))", "TIMESTAMP(6)", SUMMER, time(12)),
        ("CAST(x AS TIMESTAMP(3))", "TIME(0)", time(1, 2), datetime(1970, 1, 1, 1, 2)),
    ],
)  # fmt: skip
def test_times_move_and_lose_digits(expression, column, value, expected):
    assert values_of(expression, {f"x {column}": [value, None]}) == [expected, None]


@pytest.mark.parametrize(
    ("clock", "instant"),
    [
        (datetime(2024, 3, 31, 2, 30), datetime(2024, 3, 31, 1, 30)),  # missing: 3:30 instead
        (datetime(2024, 10, 27, 2, 30), datetime(2024, 10, 27, 0, 30)),  # twice: the first one
        (datetime(2037, 7, 1), datetime(2037, 6, 30, 22)),
        (datetime(2500, 7, 1), datetime(2500, 6, 30, 22)),  # summer time, as if nothing changes
        (datetime(9999, 12, 31), datetime(9999, 12, 30, 23)),
        (datetime(1880, 1, 1), datetime(1879, 12, 31, 23, 6, 32)),  # by the sun over Berlin
    ],
)
def test_local_times_become_instants_as_in_java(clock, instant):
    cast = values_of("CAST(x AS TIMESTAMP_LTZ(3))", {"x TIMESTAMP(3)": [clock]}, "Europe/Berlin")

    assert cast == [instant.replace(tzinfo=UTC)]


def test_instants_become_local_times_also_in_centuries_to_come():
    instants = [datetime(2500, 1, 1, tzinfo=UTC), datetime(2500, 7, 1, tzinfo=UTC), None]

    cast = values_of("CAST(x AS TIMESTAMP(3))", {"x TIMESTAMP_LTZ(3)": instants}, "Europe/Berlin")

    assert cast == [datetime(2500, 1, 1, 1), datetime(2500, 7, 1, 2), None]


def test_the_current_time_is_the_one_given():
    millis = NOW.replace(microsecond=123000)

    assert values_of("CURRENT_TIMESTAMP", {"a INT": [1, 2]}) == [millis, millis]
    assert values_of("LOCALTIMESTAMP", zone="Asia/Tokyo") == [
        datetime(2024, 5, 6, 16, 8, 9, 123000)
    ]
    assert values_of("CURRENT_DATE", zone="Pacific/Kiritimati") == [date(2024, 5, 6)]
