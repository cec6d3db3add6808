"""Calendar units in columns, and times as strings and numbers."""

from datetime import UTC, date, datetime

import pytest

from tests.columns.computing import NOW, values_of
from tidemark.columns import NotInColumns

MOMENT = datetime(2024, 2, 29, 13, 5, 9, 7_000)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("EXTRACT(WEEK FROM ts)", 9),
        ("EXTRACT(DOW FROM ts)", 5),
        ("EXTRACT(MILLISECOND FROM ts)", 7),
        ("EXTRACT(CENTURY FROM ts)", 21),
        ("EXTRACT(EPOCH FROM ts)", 1709211909),
        ("FLOOR(ts TO WEEK)", datetime(2024, 2, 25)),
        ("FLOOR(ts TO QUARTER)", datetime(2024, 1, 1)),
        ("FLOOR(ts TO CENTURY)", datetime(2001, 1, 1)),
        ("CEIL(ts TO HOUR)", datetime(2024, 2, 29, 14)),
        ("CEIL(ts TO MONTH)", datetime(2024, 3, 1)),
        ("TIMESTAMPADD(MONTH, 12, ts)", MOMENT.replace(year=2025, day=28)),
        ("TIMESTAMPDIFF(MONTH, DATE '2024-01-31', DATE '2024-02-29')", 1),
        ("TIMESTAMPDIFF(MILLISECOND, DATE '2024-02-29', ts)", 47109000),
        ("DATE_FORMAT(ts, 'yy/M/d h:m a SSS ''of'' EEEE')", "24/2/29 1:5 PM 007 of Thursday"),
        ("TO_TIMESTAMP('10.3.2024 02:30', 'd.M.yyyy HH:mm')", datetime(2024, 3, 10, 2, 30)),
        ("TO_DATE('no date', 'yyyy-MM-dd')", None),
        ("TO_DATE('2024-3-1')", date(2024, 3, 1)),
        (
            "TO_TIMESTAMP('2024-03-10 02:30:00.5', 'yyyyMMdd')",
            datetime(2024, 3, 10, 2, 30, 0, 500_000),
        ),
        ("TO_TIMESTAMP('2024-2-30', 'dd.MM.yyyy')", datetime(2024, 3, 1)),
        ("TO_TIMESTAMP('30.02.2024', 'dd.MM.yyyy')", datetime(2024, 2, 29)),
        ("TO_TIMESTAMP('2024-03-10x', 'yyyy-MM-dd')", None),
        ("CAST('2024-02-30 24:00:00' AS TIMESTAMP(3))", datetime(2024, 3, 1)),
        ("DATE_FORMAT('2024-02-30 25:00:00', 'MM-dd HH')", "03-02 01"),
        ("CEIL(TIMESTAMP '2024-01-01 00:00:00.000001' TO SECOND)", datetime(2024, 1, 1)),
        ("TO_TIMESTAMP_LTZ(1500, 3)", datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC)),
        ("FROM_UNIXTIME(0)", "1970-01-01 00:00:00"),
        ("UNIX_TIMESTAMP('nothing')", -(2**63)),
        ("UNIX_TIMESTAMP()", int(NOW.timestamp())),
        ("CONVERT_TZ('2024-02-29 10:11:12', 'UTC', 'Asia/Shanghai')", "2024-02-29 18:11:12"),
    ],
)
def test_times_have_parts(expression, expected):
    assert values_of(expression, {"ts TIMESTAMP(3)": [MOMENT]}) == [expected]


def test_of_an_hour_that_is_repeated_the_last_one_counts_in_functions_over_strings():
    text = {"s STRING": ["2024-11-03 01:30:00", "2024-03-10 02:30:00"]}
    unix = [1730615400, 1710055800]

    assert values_of("UNIX_TIMESTAMP(s)", text, "America/New_York") == unix
    assert values_of("CONVERT_TZ(s, 'America/New_York', 'UTC')", text) == [
        "2024-11-03 06:30:00",
        "2024-03-10 07:30:00",
    ]


def test_a_string_is_an_instant_in_utc_whatever_the_session_time_zone():
    text = {"s STRING": ["2024-05-06 07:08:09.123456"]}
    moment = datetime(2024, 5, 6, 7, 8, 9, 123_456, tzinfo=UTC)

    assert values_of("TO_TIMESTAMP_LTZ(s)", text, "Europe/Berlin") == [
        moment.replace(microsecond=123_000)
    ]
    micros = "TO_TIMESTAMP_LTZ(s, 'yyyy-MM-dd HH:mm:ss.SSSSSS')"
    assert values_of(micros, text, "Europe/Berlin") == [moment]


def test_an_instant_is_cut_as_far_as_the_clock_moves():
    # 02:30 summer time, half an hour before clocks are moved back: the day began 2.5 hours before.
    instant = datetime(2024, 10, 27, 0, 30, tzinfo=UTC)

    cut = values_of("FLOOR(z TO DAY)", {"z TIMESTAMP_LTZ(3)": [instant]}, "Europe/Berlin")

    assert cut == [datetime(2024, 10, 26, 22, tzinfo=UTC)]


def test_session_zone_may_be_an_offset():
    columns = {"z TIMESTAMP_LTZ(3)": [datetime(2024, 1, 1, tzinfo=UTC)]}

    assert values_of("HOUR(z)", columns, "GMT+08:00") == [8]


def test_letters_of_months_are_not_read():
    with pytest.raises(NotInColumns, match="TO_TIMESTAMP with the pattern 'MMMMM yyyy'"):
        values_of("TO_TIMESTAMP('J 2024', 'MMMMM yyyy')")
