"""Positions in the log: a file, and how many of its bytes come before."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

FIRST_BYTE: Final = 4  # of a file: before it is what says that it is a log


@dataclass(frozen=True, slots=True)
class LogPosition:
    file: str
    byte: int
    # When the file was begun, in seconds since 1970; 0 if that is not known. Another server, or one
    # whose log was reset, may have a file of the same name.
    made: int = field(default=0, compare=False)

    @classmethod
    def of(cls, offset: Mapping[str, Any]) -> LogPosition:
        return cls(offset["file"], offset["pos"], offset["made"])

    def offset(self) -> dict[str, Any]:
        """The same for JSON."""
        return {"file": self.file, "pos": self.byte, "made": self.made}

    @property
    def _order(self) -> tuple[int, int]:
        """Files are numbered: log.000007.

        >>> LogPosition("log.999999", 5) < LogPosition("log.1000000", 4)
        True
        """
        found = re.search(r"\d+\Z", self.file)
        return (int(found[0]) if found else 0), self.byte

    def __lt__(self, other: LogPosition) -> bool:
        return self._order < other._order

    def __le__(self, other: LogPosition) -> bool:
        return self._order <= other._order

    def __str__(self) -> str:
        return f"{self.file}:{self.byte}"
