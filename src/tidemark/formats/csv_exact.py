"""CSV records, one by one: where a record ends, and what its fields are."""

from __future__ import annotations

import re

from tidemark.formats.csv_style import Style

# What precedes a record is skipped with empty lines and comments.
BEFORE_RECORDS = (" ", "\r")
_LETTERS = {"n": "\n", "r": "\r", "t": "\t"}


class Scanner:
    """Finds records in text, and takes them apart."""

    def __init__(self, style: Style) -> None:
        self._delimiter = style.delimiter
        self._quote = style.quote
        self._comments = style.comments
        self.by_lines = style.quote is None  # each line is a record
        delimiter = re.escape(style.delimiter)
        stop = re.escape(style.escape) if style.escape else ""
        escaped = rf"|{stop}(?s:.)" if stop else ""
        self._line_plain = re.compile(rf"(?:[^{delimiter}\n{stop}]++{escaped})*+")
        self._plain = re.compile(rf"((?:[^{delimiter}{stop}]++{escaped})*+)(?={delimiter}|\Z)")
        self._after_quotes = re.compile(rf"[^{delimiter}\n]*+")
        self._escapes = re.compile(rf"{stop}(.)", re.DOTALL) if stop else None
        if style.quote is not None:
            quote = re.escape(style.quote)
            body = rf"{quote}((?:[^{quote}{stop}]++|{quote}{quote}{escaped})*+){quote}"
            self._body = re.compile(body)
            self._quoted = re.compile(rf"{body} *+(?={delimiter}|\Z)")

    def end(self, text: str, start: int) -> int:
        """Where the record ends that begins at `start`: past its line end."""
        at = self._begin(text, start)
        one_line = self.by_lines or self.is_no_record(text, at)
        while not one_line:
            if self._is_quoted(text, at):
                closed = self._body.match(text, at)
                if closed is None:
                    return len(text)
                at = self._after_quotes.match(text, closed.end()).end()  # type: ignore[union-attr]
            else:
                at = self._line_plain.match(text, at).end()  # type: ignore[union-attr]
            if text[at : at + 1] != self._delimiter:
                break
            at += 1
        return text.find("\n", at) + 1 or len(text)

    def fields(self, record: str) -> list[str] | None:
        """The fields of a record; None if its quotes are not balanced."""
        result = []
        at = self._begin(record, 0)
        while True:
            quoted = self._is_quoted(record, at)
            found = (self._quoted if quoted else self._plain).match(record, at)
            if found is None:
                return None
            result.append(self._content(found[1], quoted))
            at = found.end() + 1
            if at > len(record):
                return result

    def is_no_record(self, text: str, start: int = 0) -> bool:
        """Whether there is a comment or an empty line, which is left out only if there may be
        comments; otherwise it is a record with one field.
        """
        at = self._begin(text, start)
        return self._comments and (at == len(text) or text[at] in "#\n")

    def _begin(self, text: str, start: int) -> int:
        """Where the first field begins: if there may be comments, after blanks."""
        while self._comments and text[start : start + 1] in BEFORE_RECORDS:
            start += 1
        return start

    def _is_quoted(self, text: str, at: int) -> bool:
        return self._quote is not None and text.startswith(self._quote, at)

    def _content(self, field: str, quoted: bool) -> str:
        if quoted and self._quote is not None:
            field = field.replace(self._quote * 2, self._quote)
        return self.unescaped(field)

    def unescaped(self, field: str) -> str:
        if self._escapes is None:
            return field
        return self._escapes.sub(lambda found: _LETTERS.get(found[1], found[1]), field)


def without_line_end(record: str) -> str:
    """A record that ended in LF or CR LF, without that."""
    return record.removesuffix("\n").removesuffix("\r")
