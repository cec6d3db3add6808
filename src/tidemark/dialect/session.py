"""SET, RESET, SHOW, DESCRIBE, USE, modules and statistics."""

from __future__ import annotations

from typing import Literal

from tidemark.dialect import statements as s
from tidemark.dialect import unsupported
from tidemark.dialect.alter import AlterParser
from tidemark.dialect.cursor import DOUBLE, END, STRING
from tidemark.dialect.literals import string_of

_SHOWN = (
    "TABLES",
    "VIEWS",
    "FUNCTIONS",
    "DATABASES",
    "CATALOGS",
    "COLUMNS",
    "JARS",
    "JOBS",
    "MODELS",
    "MODULES",
    "PARTITIONS",
    "PROCEDURES",
    "WATERMARKS",
)
_SHOWN_BY_TWO_WORDS = (
    ("CREATE", "TABLE"),
    ("CREATE", "VIEW"),
    ("CREATE", "CATALOG"),
    ("CURRENT", "CATALOG"),
    ("CURRENT", "DATABASE"),
    ("USER", "FUNCTIONS"),
    ("FULL", "MODULES"),
    ("MATERIALIZED", "TABLES"),
)
_NAMED_BY = {"CREATE CATALOG": "CATALOG", "PARTITIONS": "table"}
_DESCRIBED: tuple[s.ObjectKind, ...] = ("CATALOG", "DATABASE", "FUNCTION")


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

    # --- SHOW and DESCRIBE ---------------------------------------------------------------------

    def show(self) -> s.Show:
        start = self.here
        self.here += 1
        what = self._shown()
        name: s.Name | None = None
        partition: tuple[s.Option, ...] = ()
        if what.startswith("CREATE") or what == "PARTITIONS":
            name = self.name_of(_NAMED_BY.get(what, "table or view"))
        elif self.take_any("FROM", "IN") is not None:
            name = self.name_of("CATALOG") if what == "DATABASES" else self.qualified_name("a name")
        elif what == "COLUMNS":
            self.fail_expecting("`FROM` and a table name")
        if what == "PARTITIONS" and self.take("PARTITION"):
            partition = self.partition()
        negated = self.take("NOT")
        operator = self.take_any("LIKE", "ILIKE")
        if operator is None and negated:
            self.fail_expecting("`LIKE` or `ILIKE`")
        like = None if operator is None else string_of(self)
        any_case = operator == "ILIKE"
        return s.Show(what, name, like, negated, any_case, partition, self.span_from(start))

    def _shown(self) -> str:
        for words in _SHOWN_BY_TWO_WORDS:
            if self.take(*words):
                return " ".join(words)
        if self.at(*unsupported.SHOW.each):
            self.refuse(unsupported.SHOW, self.key)
        return self.expect_any(*_SHOWN)

    def describe(self) -> s.Describe:
        start = self.here
        self.here += 1
        if self._names_a_kind(*unsupported.DESCRIBE.each):
            self.refuse(unsupported.DESCRIBE, self.key)
        if self._names_a_kind("JOB"):
            return self._describe_job(start)
        kind: s.ObjectKind = "TABLE"
        for other in _DESCRIBED:
            if self._names_a_kind(other):
                kind = other
                self.here += 1
        if kind == "TABLE":
            self.take("TABLE")
        extended = self.take("EXTENDED")
        name = self.name_of("table or view" if kind == "TABLE" else kind)
        return s.Describe(name, extended, kind, self.span_from(start))

    def _describe_job(self, start: int) -> s.Describe:
        self.expect("JOB")
        at = self.here
        job = string_of(self, "the id of a job in single quotes")
        name = s.Name((job,), self.span_from(at))
        return s.Describe(name, kind="JOB", span=self.span_from(start))

    def _names_a_kind(self, *words: str) -> bool:
        """Whether the word is a kind of object, and not the name of a table itself."""
        return self.at(*words) and self.peek() not in (END, ";", ".")

    # --- USE, modules and statistics -----------------------------------------------------------

    def use(self) -> s.Use | s.Modules:
        start = self.here
        self.here += 1
        if self.take("CATALOG"):
            return s.Use("CATALOG", self.one_name("a catalog name"), self.span_from(start))
        if self.take("MODULES"):
            names = tuple(self.listed(lambda: self.name("a module name")))
            return s.Modules("USE", names, self.span_from(start))
        return s.Use("DATABASE", self.qualified_name("a database name"), self.span_from(start))

    def load_module(self) -> s.Modules:
        """`LOAD MODULE m [WITH (...)]`, `UNLOAD MODULE m`"""
        start = self.here
        verb: Literal["LOAD", "UNLOAD"] = "LOAD" if self.at("LOAD") else "UNLOAD"
        self.here += 1
        self.expect("MODULE")
        name = self.name("a module name")
        if verb == "LOAD" and self.take("WITH"):
            self.options()
        return s.Modules(verb, (name,), self.span_from(start))

    def jar(self) -> s.Jar:
        start = self.here
        verb: Literal["ADD", "REMOVE"] = "ADD" if self.take("ADD") else "REMOVE"
        if verb == "REMOVE":
            self.expect("REMOVE")
        self.expect("JAR")
        return s.Jar(verb, string_of(self), self.span_from(start))

    def analyze(self) -> s.Analyze:
        start = self.here
        self.expect("ANALYZE", "TABLE")
        name = self.qualified_name("a table name")
        partition = self._analyzed_partition() if self.take("PARTITION") else ()
        self.expect("COMPUTE", "STATISTICS")
        columns: tuple[str, ...] = ()
        all_columns = False
        if self.take("FOR"):
            all_columns = self.take("ALL")
            self.expect("COLUMNS")
            if not all_columns:
                columns = tuple(self.listed(lambda: self.name("a column name")))
        return s.Analyze(name, partition, columns, all_columns, self.span_from(start))

    def _analyzed_partition(self) -> tuple[str, ...]:
        """`(column [= value], ...)`: its columns."""

        def column() -> str:
            return self._partition_value().key if self.peek() == "=" else self.name("a column name")

        self.expect("(")
        return tuple(self.enclosed(column))
