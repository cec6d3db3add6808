"""The parts of data definition: names, options, columns, watermarks, keys."""

from __future__ import annotations

from tidemark.dialect import statements as s
from tidemark.dialect import unsupported
from tidemark.dialect.cursor import DOUBLE, NAME, NUMBER, STRING
from tidemark.dialect.literals import string_of
from tidemark.dialect.queries import QueryParser
from tidemark.errors import Span
from tidemark.types import DataType

_LIKE_FEATURES = (
    *("ALL", "CONSTRAINTS", "DISTRIBUTION", "GENERATED", "METADATA", "OPTIONS"),
    *("PARTITIONS", "WATERMARKS"),
)


class ColumnParser(QueryParser):
    """Adds names of objects, options and columns to queries."""

    def qualified_name(self, what: str) -> s.Name:
        start = self.here
        parts = [self.name(what)]
        while self.take("."):
            parts.append(self.any_word("a name"))
        if len(parts) > 3:
            self.fail(
                "a name has at most three parts: catalog, database and object",
                at=self.span_from(start),
            )
        return s.Name(tuple(parts), self.span_from(start))

    def one_name(self, what: str) -> s.Name:
        """A name that is never qualified: of a catalog, or of a column."""
        start = self.here
        name = self.name(what)
        if self.at("."):
            self.fail(f"{what} has only one part", at=self.span_from(start))
        return s.Name((name,), self.span_from(start))

    def name_of(self, kind: str) -> s.Name:
        """The name of a kind of object: TABLE, DATABASE, CATALOG, ..."""
        what = f"a {kind.lower()} name"
        return self.one_name(what) if kind == "CATALOG" else self.qualified_name(what)

    def options(self) -> tuple[s.Option, ...]:
        """`('key' = 'value', ...)`; may be empty, may contain bare keys, may end with a comma. An
        option may be repeated with the same value.
        """
        self.expect("(")
        found: list[s.Option] = []
        while not self.take(")"):
            option = self._option()
            earlier = {other.key: other.value for other in found}
            if earlier.get(option.key, option.value) != option.value:
                self.fail(f"option '{option.key}' is given twice", at=option.span)
            if option.key not in earlier:
                found.append(option)
            if not self.take(",") and not self.at(")"):
                self.expect_close(")")
        return tuple(found)

    def _option(self) -> s.Option:
        start = self.here
        key = self.option_key()
        self.expect("=")
        value = string_of(self, "a value in single quotes")
        return s.Option(key, value, self.span_from(start))

    def option_key(self) -> str:
        """`'key'`, `key`, `dotted.key`, `dashed-key` or a name in backquotes."""
        if self.at(STRING):
            return string_of(self)
        if self.key != NAME and not self.at_word():
            self.fail_expecting("an option key")
        text = self.next().text
        while self.at(".", "-") or (self.at(NUMBER) and self.token.text.startswith(".")):
            text += self.next().text
            if self.at_word() or self.at(NAME, NUMBER):
                text += self.next().text
        return text

    def _comment(self) -> str | None:
        return string_of(self) if self.take("COMMENT") else None

    def _plain_columns(self) -> tuple[str, ...]:
        """`(a, b)`"""
        self.expect("(")
        return tuple(self.enclosed(lambda: self.name("a column name")))

    def _partition_columns(self) -> tuple[str, ...]:
        """`(a, b)`; Hive declares their types here."""
        self.expect("(")
        return tuple(self.enclosed(self._partition_column))

    def _partition_column(self) -> str:
        name = self.name("a column name")
        if not self.at(",", ")"):
            hint = f"declare the type of `{name}` among the columns of the table"
            if self.at("("):
                hint = "only columns are allowed here, not expressions (same in Flink)"
            self.fail_expecting("`,` or `)`", hint=hint)
        return name

    def _located_columns(self) -> tuple[tuple[str, ...], tuple[Span, ...]]:
        """`(a, b)`, and where each of them is."""
        self.expect("(")
        located = self.enclosed(self._located_column)
        return tuple(name for name, _ in located), tuple(span for _, span in located)

    def _located_column(self) -> tuple[str, Span]:
        start = self.here
        return self.name("a column name"), self.span_from(start)

    def partition(self) -> tuple[s.Option, ...]:
        """`(column = value, ...)`"""
        self.expect("(")
        return tuple(self.enclosed(self._partition_value))

    def _partition_value(self) -> s.Option:
        start = self.here
        column = self.name("a column name")
        self.expect("=")
        value = self.next().text if self.at(NUMBER) else string_of(self, "a number or a string")
        return s.Option(column, value, self.span_from(start))

    # --- columns -------------------------------------------------------------------------------

    def column(self) -> s.Column:
        column, is_key = self._column_and_key()
        if is_key:
            self.fail("PRIMARY KEY must be a separate clause here", at=column.span)
        return column

    def _column_and_key(self) -> tuple[s.Column, bool]:
        start = self.here
        name = self.name("a column name")
        if self.take("AS"):
            return self._computed_column(name, start), False
        if self.at(",", ")"):
            self.fail(f"column `{name}` has no type", at=self.span_from(start))
        type_ = self.data_type()
        if self.take("AS"):
            return self._system_metadata(name, type_, start), False
        if self.take("METADATA"):
            key = string_of(self) if self.take("FROM") else None
            virtual, comment = self.take("VIRTUAL"), self._comment()
            span = self.span_from(start)
            return s.MetadataColumn(name, type_, key, virtual, comment, span), False
        is_key = self._column_key()
        comment = self._comment()
        is_key = self._column_key() or is_key
        if is_key:
            type_ = type_.with_nullable(False)
        return s.PhysicalColumn(name, type_, comment, self.span_from(start)), is_key

    def _column_key(self) -> bool:
        """`PRIMARY KEY NOT ENFORCED` after a column."""
        if self.at(*unsupported.ON_COLUMN.each):
            self.refuse(unsupported.ON_COLUMN, self.key)
        if self.take("CONSTRAINT"):
            self.name("a constraint name")
            if not self.sees("PRIMARY", "KEY"):
                self.fail_expecting("`PRIMARY KEY`")
        if not self.sees("PRIMARY", "KEY"):
            return False
        start = self.here
        self.here += 2
        self._not_enforced(start)
        return True

    def _computed_column(self, name: str, start: int) -> s.Column:
        if self.at("SYSTEM_METADATA"):
            self.fail(
                "a metadata column must have a type",
                at=self.span_from(start),
                hint=f"for example: {name} TIMESTAMP(3) METADATA FROM '...' VIRTUAL",
            )
        expression = self.expression()
        comment = self._comment()
        return s.ComputedColumn(name, expression, comment, self.span_from(start))

    def _system_metadata(self, name: str, type_: DataType, start: int) -> s.Column:
        """`AS SYSTEM_METADATA("key")`, the older spelling; read-only like a VIRTUAL column."""
        if not self.take("SYSTEM_METADATA"):
            self.fail(
                "a column has either a type or an expression, not both",
                at=self.span_from(start),
                hint=f"write {name} AS CAST(expression AS {type_})",
            )
        self.expect("(")
        key = self.next().text[1:-1] if self.at(DOUBLE) else string_of(self)
        self.expect(")")
        comment = self._comment()
        return s.MetadataColumn(name, type_, key, True, comment, self.span_from(start))

    def _watermark(self) -> s.Watermark:
        start = self.here
        self.expect("WATERMARK", "FOR")
        path = [self.name("the name of a time column")]
        while self.take("."):
            path.append(self.any_word("a name"))
        self.expect("AS")
        return s.Watermark(tuple(path), self.expression(), self.span_from(start))

    def _primary_key(self, start: int) -> s.PrimaryKey:
        constraint = self.name("a constraint name") if self.take("CONSTRAINT") else None
        if self.at(*unsupported.CONSTRAINT.each):
            self.refuse(unsupported.CONSTRAINT, self.key)
        self.expect("PRIMARY", "KEY")
        columns = self._plain_columns()
        self._not_enforced(start)
        return s.PrimaryKey(columns, constraint, self.span_from(start))

    def _not_enforced(self, start: int) -> None:
        if not self.take("NOT", "ENFORCED"):
            self.take("ENFORCED")
            self.fail(
                "a primary key must be NOT ENFORCED",
                at=self.span_from(start),
                hint="write PRIMARY KEY (...) NOT ENFORCED; uniqueness is not checked",
            )

    def _like_table(self) -> s.Like:
        name = self.qualified_name("a table name")
        choices: list[tuple[str, str]] = []
        if self.take("("):
            while not self.take(")"):
                choice = self.expect_any("INCLUDING", "EXCLUDING", "OVERWRITING")
                feature = self.expect_any(*_LIKE_FEATURES)
                choices.append((feature, choice))
        return s.Like(name, tuple(choices))
