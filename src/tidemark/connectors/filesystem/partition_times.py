"""The time of a partition, from the values in its folder's name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

# Without a formatter: one or two digits are enough, and `2024-01-32` is February 1. It may be the
# name of a TIMESTAMP's partition, too: `2024-01-32T10:00`, which Flink cannot read.
_LOOSE = re.compile(
    r"(?P<year>\d{1,10})-(?P<month>\d{1,2})-(?P<day>\d{1,2})"
    r"([ T](?P<hour>\d{1,2}):(?P<minute>\d{1,2})(:(?P<second>\d{1,2})(?P<fraction>\.\d{1,9})?)?)?"
)
_LETTERS = {
    "y": "year",
    "u": "year",
    "M": "month",
    "d": "day",
    "H": "hour",
    "m": "minute",
    "s": "second",
    "S": "fraction",
}
_TOKEN = re.compile(
    r"''|'(?P<quoted>(?:[^']|'')+)'|(?P<letters>([A-Za-z])\3*)|(?P<other>[^A-Za-z'])"
)


class NoTime(ValueError):
    """A partition's values that are not a time."""


@dataclass(frozen=True, slots=True)
class PartitionTimes:
    """`pattern` combines the values (`$dt $hour:00:00`); by default the first one is used.
    `formatter` is the format of times, in Java's letters.
    """

    pattern: str | None = None
    formatter: str | None = None

    def time_of(self, values: Mapping[str, str]) -> datetime:
        """Local time, in the order of Flink's own steps. Raises NoTime."""
        text = next(iter(values.values()))
        if self.pattern is not None:
            text = self.pattern
            for name, value in values.items():
                text = text.replace(f"${name}", value)
        expression = _LOOSE if self.formatter is None else expression_of(self.formatter)
        found = expression.fullmatch(text)
        if found is None:
            written = self.formatter or "yyyy-MM-dd HH:mm:ss"
            raise NoTime(f"'{text}' is not a time written as {written}")
        try:
            return _loosely(found) if self.formatter is None else _strictly(found)
        except (ValueError, OverflowError) as problem:
            raise NoTime(f"'{text}' is not a time: {problem}") from None


def expression_of(formatter: str) -> re.Pattern[str]:
    """The times that a pattern of Java's DateTimeFormatter parses, as a regular expression.
    Raises ValueError.
    """
    parts, seen, end = [], set[str](), 0
    for token in _TOKEN.finditer(formatter):
        if token.start() != end:
            break
        end = token.end()
        letters = token["letters"]
        if letters is None:
            parts.append(re.escape((token["quoted"] or token["other"] or "'").replace("''", "'")))
            continue
        name = _LETTERS.get(letters[0])
        if name is None or len(letters) > (9 if name == "fraction" else 4):
            raise ValueError(f"the letters '{letters}' are not supported in a partition's time")
        if name in seen:
            raise ValueError(f"the {name} is there twice")
        seen.add(name)
        parts.append(f"(?P<{name}>{_digits(name, len(letters))})")
    if end != len(formatter):
        raise ValueError(f"the quote at '{formatter[end:]}' is not closed")
    if missing := {"year", "month", "day"} - seen:
        raise ValueError(f"it has no {sorted(missing)[0]}")
    return re.compile("".join(parts))


def _digits(name: str, letters: int) -> str:
    if letters == 1 and name != "fraction":
        return r"\d{1,10}" if name == "year" else r"\d{1,2}"
    return rf"\d{{{letters}}}"


def _strictly(found: re.Match[str]) -> datetime:
    parts = found.groupdict()
    year = int(parts["year"]) + (2000 if len(parts["year"]) == 2 else 0)
    micros = int((parts.get("fraction") or "0").ljust(6, "0")[:6])
    hour, minute, second = (int(parts.get(name) or 0) for name in ("hour", "minute", "second"))
    return datetime(year, int(parts["month"]), int(parts["day"]), hour, minute, second, micros)


def _loosely(found: re.Match[str]) -> datetime:
    """Values that are too large carry over into the next month, day or hour."""
    parts = {name: value or "0" for name, value in found.groupdict().items()}
    months = int(parts["year"]) * 12 + int(parts["month"]) - 1
    return datetime(months // 12, months % 12 + 1, 1) + timedelta(
        days=int(parts["day"]) - 1,
        hours=int(parts["hour"]),
        minutes=int(parts["minute"]),
        seconds=float(parts["second"]) + float(parts["fraction"]),
    )
