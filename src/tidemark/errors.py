"""Every error that Tidemark raises on purpose, and how it is shown to the user."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tidemark.redaction import masked


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of source text: the offsets of its first character and past its last."""

    start: int
    end: int

    def __or__(self, other: Span) -> Span:
        return Span(min(self.start, other.start), max(self.end, other.end))


@dataclass(frozen=True, slots=True)
class Source:
    """Source text of statements, with the name that users know it by."""

    text: str
    name: str = "<sql>"

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Line and column, both counted from one, as in editors."""
        before = self.text[:offset]
        return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1

    def line(self, number: int) -> str:
        lines = self.text.split("\n")
        return lines[number - 1].rstrip("\r") if number <= len(lines) else ""


class TidemarkError(Exception):
    """Base of all errors raised on purpose: what is wrong, where, why, and what to do."""

    def __init__(
        self, message: str, *, notes: Mapping[str, object] | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.notes = dict(notes or {})
        self.hint = hint

    def render(self) -> str:
        return "\n".join([self.message, *self._details()])

    def _details(self) -> list[str]:
        lines = [f"  {key}: {value}" for key, value in self.notes.items()]
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return lines

    def __str__(self) -> str:
        return self.render()


class SqlError(TidemarkError):
    """An error at a location in SQL; printed with the line and a caret."""

    def __init__(
        self,
        message: str,
        *,
        at: Span | None = None,
        source: Source | None = None,
        notes: Mapping[str, object] | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, notes=notes, hint=hint)
        # An empty span means that the location is unknown.
        self.at = at if at is not None and at.end > at.start else None
        self.source = source

    def located_in(self, source: Source) -> SqlError:
        """The same error with its source. The innermost source (a view's own) wins."""
        if self.source is None:
            self.source = source
        return self

    def located_at(self, at: Span | None, source: Source | None) -> SqlError:
        """The same error at a place, unless it has one of its own or comes from elsewhere."""
        if self.at is None and self.source in (None, source):
            self.at, self.source = at, source
        return self

    def render(self) -> str:
        if self.at is None or self.source is None:
            return super().render()
        row, column = self.source.line_and_column(self.at.start)
        head = f"{self.source.name}:{row}:{column}  {self.message}"
        return "\n".join([head, *self._caret(row, column), *self._details()])

    def _caret(self, row: int, column: int) -> list[str]:
        assert self.at is not None and self.source is not None
        line = Source(masked(self.source.text)).line(row)
        text, column = _around(line, column)
        margin = f"  {row} | "
        # Keep tabs in the padding, so that the caret is below the right character.
        padding = "".join(c if c == "\t" else " " for c in text[: column - 1])
        width = max(1, min(self.at.end - self.at.start, len(text) - (column - 1)))
        return [margin + text, " " * len(margin) + padding + "^" * width]


# Of a longer line only the part around the caret is shown, from so far before it.
_LONGEST, _BEFORE = 160, 60


def _around(line: str, column: int) -> tuple[str, int]:
    """What is shown of a line, and the column of the caret in it."""
    if len(line) <= _LONGEST:
        return line, column
    start = max(0, min(column - 1 - _BEFORE, len(line) - _LONGEST))
    end = start + _LONGEST
    before, after = "..." if start else "", "..." if end < len(line) else ""
    return before + line[start:end] + after, column - start + len(before)


class ParseError(SqlError):
    """The text is not a statement of the dialect."""


class PlanError(SqlError):
    """The statement is well-formed but not valid."""


class UnknownFunction(PlanError):
    """A function is called that is neither built in nor declared."""


class NotSupported(PlanError):
    """A known feature that Tidemark does not support, with the reason."""


class NeedsSpark(NotSupported):
    """A part of a plan that was to run without Spark, and cannot."""

    def __init__(
        self,
        what: str,
        *,
        source: Source | None = None,
        notes: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(
            f"{what} needs Spark",
            source=source,
            notes=notes,
            hint="run it without --local, or SET 'tidemark.engine' = 'spark'",
        )


class CatalogError(SqlError):
    """A table, view, function, database or catalog does not exist, or already exists."""


class OptionError(SqlError):
    """A table or session option has an unknown name or a value of the wrong type."""


class MissingConnector(OptionError):
    """A table does not say which connector it has, as those of some catalogs need not."""


class DataError(TidemarkError):
    """A record that cannot be read as its table declares."""


class JobError(TidemarkError):
    """A running job failed."""


class SetupError(TidemarkError):
    """Java, Spark or a package that a feature needs is missing."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that the user most likely meant, if any is close."""
    by_folded = {candidate.lower(): candidate for candidate in known}
    close = difflib.get_close_matches(name.lower(), by_folded, n=1, cutoff=0.6)
    return by_folded[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint that suggests the nearest known name."""
    match = nearest(name, known)
    return f"did you mean `{match}`?" if match else None
