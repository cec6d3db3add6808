"""How a JSON format reads its documents: its options, prefixed with its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from tidemark.formats.exact_values import Spelling
from tidemark.formats.problems import skips_records


@dataclass(frozen=True, slots=True)
class JsonOptions:
    format: str
    ignores_errors: bool
    iso_times: bool
    fails_on_missing: bool = False

    @classmethod
    def of(cls, format_: str, options: Mapping[str, Any]) -> Self:
        return cls(
            format_,
            bool(options.get(f"{format_}.ignore-parse-errors", False)),
            options.get(f"{format_}.timestamp-format.standard", "SQL") == "ISO-8601",
            bool(options.get(f"{format_}.fail-on-missing-field", False)),
        )

    @property
    def ignore_option(self) -> str:
        return f"{self.format}.ignore-parse-errors"

    @property
    def skips(self) -> str:
        """The hint about a bad record."""
        return skips_records(self.ignore_option)

    @property
    def times_option(self) -> str:
        return f"{self.format}.timestamp-format.standard"

    @property
    def missing_option(self) -> str:
        return f"{self.format}.fail-on-missing-field"

    @property
    def spelling(self) -> Spelling:
        return Spelling(iso_times=self.iso_times, integers_truncate=True)
