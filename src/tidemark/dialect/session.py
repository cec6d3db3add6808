"""SET, RESET, SHOW, DESCRIBE and USE."""

from __future__ import annotations

from tidemark.dialect import statements as s
from tidemark.dialect import unsupported
from tidemark.dialect.alter import AlterParser
from tidemark.dialect.cursor import DOUBLE, END, STRING
from tidemark.dialect.literals import string_of

_SHOWN = ("TABLES", "VIEWS", "FUNCTIONS", "DATABASES", "CATALOGS", "COLUMNS", "JOBS", "MODULES")


class SessionParser(AlterParser):
    """Adds session statements to data definition."""

    def set(self) -> s.Set:
        start = self.here
        self.here += 1
        if self.at(END, ";"):
            return s.Set(None, self.span_from(start))
        at = self.here
        key = self.option_key()
        self.expect("=")
        value = string_of(self) if self.at(STRING) else self._bare_value()
        return s.Set(s.Option(key, value, self.span_from(at)), self.span_from(start))

    def _bare_value(self) -> str:
        """The text up to the end of the statement: `SET execution.runtime-mode = batch`."""
        start = self.here
        while not self.at(END, ";", DOUBLE):
            self.here += 1
        if self.here == start or self.at(DOUBLE):
            self.fail_expecting("a value in single quotes")
        span = self.span_from(start)
        return self.source.text[span.start : span.end]

    def reset_session(self) -> s.Reset:
        start = self.here
        self.here += 1
        key = None if self.at(END, ";") else self.option_key()
        return s.Reset(key, self.span_from(start))

    def show(self) -> s.Show:
        start = self.here
        self.here += 1
        what = self._shown()
        name = None
        if what.startswith("CREATE"):
            name = self.qualified_name("a table or view name")
        elif self.take_any("FROM", "IN") is not None:
            name = self.qualified_name("a name")
        elif what == "COLUMNS":
            self.fail_expecting("`FROM` and a table name")
        negated = self.take("NOT")
        like = None
        if self.at("ILIKE"):
            self.refuse(unsupported.SHOW_ILIKE)
        if self.take("LIKE"):
            like = string_of(self)
        elif negated:
            self.fail_expecting("`LIKE`")
        return s.Show(what, name, like, negated, self.span_from(start))

    def _shown(self) -> str:
        if self.at("USER", "FULL") and self.peek() in ("FUNCTIONS", "MODULES"):
            self.here += 1
        for prefix, options in (
            ("CREATE", ("TABLE", "VIEW")),
            ("CURRENT", ("CATALOG", "DATABASE")),
        ):
            if self.at(prefix) and self.peek() in options:
                self.here += 2
                return f"{prefix} {self.keys[self.here - 1]}"
        if self.at(*unsupported.SHOW.each):
            self.refuse(unsupported.SHOW, self.key)
        return self.expect_any(*_SHOWN)

    def describe(self) -> s.Describe:
        start = self.here
        self.here += 1
        if self.at(*unsupported.DESCRIBE.each) and self.peek() not in (END, ";", "."):
            self.refuse(unsupported.DESCRIBE, self.key)
        self.take("TABLE")
        extended = self.take("EXTENDED")
        name = self.qualified_name("a table or view name")
        return s.Describe(name, extended, self.span_from(start))

    def use(self) -> s.Use:
        start = self.here
        self.here += 1
        if self.take("CATALOG"):
            return s.Use("CATALOG", self.qualified_name("a catalog name"), self.span_from(start))
        return s.Use("DATABASE", self.qualified_name("a database name"), self.span_from(start))
