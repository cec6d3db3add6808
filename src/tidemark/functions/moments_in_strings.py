"""The timestamps in strings in Spark SQL, and what Java's readers make of those that do not exist,
such as the 30th of February: the last day of the month, or one of the days after it.

Spark reads those that exist; what it does not read is looked at again, which is rare.
"""

from __future__ import annotations

from tidemark.functions.spark_text import bound, string

MOMENT = r"\A([0-9]{4}-[0-9]{1,2}-[0-9]{1,2}( [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}([.][0-9]{1,9})?)?)\z"
_PARTS = (
    r"\A([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})"
    r"( ([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2}([.][0-9]{1,9})?))?\z"
)
_END_OF_DAY = r"\A 24:0{1,2}:0{1,2}([.]0+)?\z"
# What Java trims.
_BLANKS = string("".join(map(chr, range(33))))


def read_moment(text: str, kind: str) -> str:
    """As java.time does: the 31st of a shorter month is its last day, and 24:00 the beginning of
    the next day. A date alone is its first moment.
    """
    moment = f"regexp_extract({text}, {string(MOMENT)}, 1)"
    other = bound(moment, lambda x: f"if({x} = '', NULL, {_existing(x, kind)})")
    return f"coalesce(try_cast({moment} AS {kind}), {other})"


def _existing(moment: str, kind: str) -> str:
    year, month, day, time = (_part(moment, place) for place in range(1, 5))
    first = f"try_cast(concat({year}, '-', {month}, '-01') AS DATE)"
    ends = f"{time} RLIKE {string(_END_OF_DAY)}"
    days = f"least(CAST({day} AS INT), day(last_day({first}))) - if({ends}, 0, 1)"
    date = f"CASE WHEN CAST({day} AS INT) BETWEEN 1 AND 31 THEN date_add({first}, {days}) END"
    return f"try_cast(concat(CAST({date} AS STRING), if({ends}, '', {time})) AS {kind})"


def read_lenient_moment(text: str) -> str:
    """As SimpleDateFormat does: whatever is too large moves on to the next month, day or hour."""
    return bound(text, lambda x: f"coalesce(try_cast({x} AS TIMESTAMP_NTZ), {_moved_on(x)})")


def read_sql_moment(text: str) -> str:
    """As java.sql.Timestamp does, or java.sql.Date for a date alone: lenient about days up to the
    31st and times of day.
    """
    return bound(
        f"trim(BOTH {_BLANKS} FROM {text})",
        lambda x: (
            f"if({_number(x, 2)} BETWEEN 1 AND 12 AND {_number(x, 3)} BETWEEN 1 AND 31, "
            f"{_moved_on(x)}, NULL)"
        ),
    )


def _moved_on(text: str) -> str:
    months = f"make_ym_interval(0, {_number(text, 2)} - 1)"
    # Cut to microseconds, where a cast would round.
    cut = f"regexp_extract({_part(text, 7)}, {string('^[0-9]+([.][0-9]{1,6})?')}, 0)"
    seconds = f"coalesce(try_cast({cut} AS DECIMAL(18, 6)), 0)"
    hours, minutes = (f"coalesce({_number(text, place)}, 0)" for place in (5, 6))
    time = f"make_dt_interval({_number(text, 3)} - 1, {hours}, {minutes}, {seconds})"
    year = f"CAST(make_date({_number(text, 1)}, 1, 1) AS TIMESTAMP_NTZ)"
    return f"if({text} RLIKE {string(_PARTS)}, {year} + {months} + {time}, NULL)"


def _part(text: str, place: int) -> str:
    return f"regexp_extract({text}, {string(_PARTS)}, {place})"


def _number(text: str, place: int) -> str:
    return f"try_cast({_part(text, place)} AS INT)"
