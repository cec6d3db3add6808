"""CREATE, DROP and ALTER."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tidemark.dialect import statements as s
from tidemark.dialect.cursor import DOUBLE, NAME, NUMBER, STRING
from tidemark.dialect.literals import text_of
from tidemark.dialect.queries import QueryParser
from tidemark.types import DataType

# Objects that Flink can create and Tidemark cannot, with what to do instead.
_UNSUPPORTED_OBJECTS = {
    "MODEL": None,
    "CONNECTION": None,
    "MATERIALIZED": "use CREATE TABLE and INSERT INTO, or CREATE VIEW",
    "MODULE": None,
    "PROCEDURE": None,
}


@dataclass
class _TableBody:
    """What stands between the parentheses of CREATE TABLE or ALTER TABLE ADD."""

    columns: list[s.Column] = field(default_factory=list)
    watermark: s.Watermark | None = None
    primary_key: s.PrimaryKey | None = None


class DdlParser(QueryParser):
    """Adds data definition to queries."""

    # --- names, options, comments --------------------------------------------------------------

    def qualified_name(self, what: str) -> s.Name:
        start = self.here
        parts = [self.name(what)]
        while self.take("."):
            parts.append(self.any_word("a name"))
        if len(parts) > 3:
            self.fail("a name has at most catalog, database and object", at=self.span_from(start))
        return s.Name(tuple(parts), self.span_from(start))

    def options(self) -> tuple[s.Option, ...]:
        """`('key' = 'value', ...)`, also empty, with bare keys and a trailing comma."""
        self.expect("(")
        found: list[s.Option] = []
        while not self.take(")"):
            option = self._option()
            if option.key in {other.key for other in found}:
                self.fail(f"the option '{option.key}' is given twice", at=option.span)
            found.append(option)
            if not self.take(",") and not self.at(")"):
                self.expect_close(")")
        return tuple(found)

    def _option(self) -> s.Option:
        start = self.here
        key = self.option_key()
        self.expect("=")
        value = text_of(self, "the value in single quotes")
        return s.Option(key, value, self.span_from(start))

    def option_key(self) -> str:
        """`'key'`, `key`, `dotted.key`, `dashed-key` or a name in back quotes."""
        if self.at(STRING):
            return text_of(self)
        if self.key != NAME and not self.at_word():
            self.fail_expecting("the key of an option")
        text = self.next().text
        while self.at(".", "-") or (self.at(NUMBER) and self.token.text.startswith(".")):
            text += self.next().text
            if self.at_word() or self.at(NAME, NUMBER):
                text += self.next().text
        return text

    def _comment(self) -> str | None:
        return text_of(self) if self.take("COMMENT") else None

    def _plain_columns(self) -> tuple[str, ...]:
        """`(a, b)`"""
        self.expect("(")
        return tuple(self.enclosed(lambda: self.name("the name of a column")))

    # --- CREATE --------------------------------------------------------------------------------

    def create(self) -> s.Statement:
        start = self.here
        self.expect("CREATE")
        replace = self.take("OR", "REPLACE") or self.take("OR", "ALTER")
        temporary = self.take("TEMPORARY")
        system = self.take("SYSTEM")
        kind = self.key
        if kind in _UNSUPPORTED_OBJECTS:
            self.here += 1
            self.take("TABLE")
            name = "MATERIALIZED TABLE" if kind == "MATERIALIZED" else kind
            self.refuse(f"CREATE {name}", start=start, hint=_UNSUPPORTED_OBJECTS[kind])
        read = self._CREATES.get(kind)
        if read is None:
            self.fail_expecting("`TABLE`, `VIEW`, `FUNCTION`, `DATABASE` or `CATALOG`")
        if system and kind != "FUNCTION":
            self.fail("only functions can be SYSTEM")
        self.here += 1
        return read(self, _Prefix(start, replace, temporary, system))

    def _if_not_exists(self) -> bool:
        return self.take("IF", "NOT", "EXISTS")

    def _create_table(self, prefix: _Prefix) -> s.Statement:
        if_not_exists = self._if_not_exists()
        name = self.qualified_name("the name of the table")
        body = self._table_body() if self.at("(") else _TableBody()
        comment = self._comment()
        if self.at("DISTRIBUTED"):
            self.refuse("DISTRIBUTED BY")
        partitioned: tuple[str, ...] = ()
        if self.take("PARTITIONED", "BY"):
            partitioned = self._plain_columns()
        options = self.options() if self.take("WITH") else ()
        like = self._like_table() if self.take("LIKE") else None
        query = self.query() if self.take("AS") else None
        return s.CreateTable(
            name=name,
            columns=tuple(body.columns),
            watermark=body.watermark,
            primary_key=body.primary_key,
            comment=comment,
            partitioned_by=partitioned,
            options=options,
            like=like,
            query=query,
            temporary=prefix.temporary,
            if_not_exists=if_not_exists,
            or_replace=prefix.replace,
            span=self.span_from(prefix.start),
        )

    def _table_body(self) -> _TableBody:
        """`(column, WATERMARK ..., PRIMARY KEY ...)`; a comma may trail."""
        self.expect("(")
        body = _TableBody()
        while not self.take(")"):
            self._table_element(body)
            if not self.take(",") and not self.at(")"):
                self.expect_close(")")
        return body

    def _table_element(self, body: _TableBody) -> None:
        start = self.here
        if self.sees("WATERMARK", "FOR"):
            if body.watermark is not None:
                self.fail("a table has one watermark")
            body.watermark = self._watermark()
        elif self.at("CONSTRAINT") or self.sees("PRIMARY", "KEY"):
            self._one_primary_key(body, self._primary_key(start))
        elif self.sees("UNIQUE", "("):
            self.refuse("the constraint UNIQUE", hint="use PRIMARY KEY (...) NOT ENFORCED")
        elif self.at("LIKE") and self.peek() != ".":
            self.refuse("LIKE inside the parentheses", hint="write it behind them")
        else:
            self._add_column(body, start)

    def _add_column(self, body: _TableBody, start: int) -> None:
        column, is_key = self._column_and_key()
        if column.name in {other.name for other in body.columns}:
            self.fail(f"there are two columns `{column.name}`", at=column.span)
        body.columns.append(column)
        if is_key:
            key = s.PrimaryKey((column.name,), span=self.span_from(start))
            self._one_primary_key(body, key)

    def _one_primary_key(self, body: _TableBody, key: s.PrimaryKey) -> None:
        if body.primary_key is not None:
            self.fail("a table has one primary key", at=key.span)
        body.primary_key = key

    # --- columns -------------------------------------------------------------------------------

    def column(self) -> s.Column:
        column, is_key = self._column_and_key()
        if is_key:
            self.fail("PRIMARY KEY stands on its own here", at=column.span)
        return column

    def _column_and_key(self) -> tuple[s.Column, bool]:
        start = self.here
        name = self.name("the name of a column")
        if self.take("AS"):
            return self._computed_column(name, start), False
        if self.at(",", ")"):
            self.fail(f"the column `{name}` has no type", at=self.span_from(start))
        type_ = self.data_type()
        if self.take("AS"):
            return self._system_metadata(name, type_, start), False
        if self.take("METADATA"):
            key = text_of(self) if self.take("FROM") else None
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
        """`PRIMARY KEY NOT ENFORCED` behind a column."""
        if self.at("UNIQUE", "CHECK", "REFERENCES", "DEFAULT"):
            self.refuse(f"{self.key} of a column")
        if self.take("CONSTRAINT"):
            self.name("the name of the constraint")
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
                "a metadata column has a type",
                at=self.span_from(start),
                hint=f"write for example {name} TIMESTAMP(3) METADATA FROM '...' VIRTUAL",
            )
        expression = self.expression()
        comment = self._comment()
        return s.ComputedColumn(name, expression, comment, self.span_from(start))

    def _system_metadata(self, name: str, type_: DataType, start: int) -> s.Column:
        """`AS SYSTEM_METADATA("key")`, the older spelling; read-only like a VIRTUAL column."""
        if not self.take("SYSTEM_METADATA"):
            self.fail(
                "a column has a type or an expression, not both",
                at=self.span_from(start),
                hint=f"write {name} AS CAST(expression AS {type_})",
            )
        self.expect("(")
        key = self.next().text[1:-1] if self.at(DOUBLE) else text_of(self)
        self.expect(")")
        comment = self._comment()
        return s.MetadataColumn(name, type_, key, True, comment, self.span_from(start))

    def _watermark(self) -> s.Watermark:
        start = self.here
        self.expect("WATERMARK", "FOR")
        path = [self.name("the name of the time column")]
        while self.take("."):
            path.append(self.any_word("a name"))
        self.expect("AS")
        return s.Watermark(tuple(path), self.expression(), self.span_from(start))

    def _primary_key(self, start: int) -> s.PrimaryKey:
        constraint = self.name("the constraint's name") if self.take("CONSTRAINT") else None
        if self.at("UNIQUE", "FOREIGN", "CHECK"):
            self.refuse(f"the constraint {self.key}")
        self.expect("PRIMARY", "KEY")
        columns = self._plain_columns()
        self._not_enforced(start)
        return s.PrimaryKey(columns, constraint, self.span_from(start))

    def _not_enforced(self, start: int) -> None:
        if not self.take("NOT", "ENFORCED"):
            self.take("ENFORCED")
            self.fail(
                "a primary key is NOT ENFORCED",
                at=self.span_from(start),
                hint="write PRIMARY KEY (...) NOT ENFORCED: nothing checks that it is unique",
            )

    def _like_table(self) -> s.Like:
        name = self.qualified_name("the name of a table")
        choices: list[tuple[str, str]] = []
        if self.take("("):
            while not self.take(")"):
                choice = self.expect_any("INCLUDING", "EXCLUDING", "OVERWRITING")
                feature = self.expect_any(*_LIKE_FEATURES)
                choices.append((feature, choice))
        return s.Like(name, tuple(choices))

    # --- other objects -------------------------------------------------------------------------

    def _create_view(self, prefix: _Prefix) -> s.Statement:
        if_not_exists = self._if_not_exists()
        name = self.qualified_name("the name of the view")
        columns = self._plain_columns() if self.at("(") else ()
        comment = self._comment()
        self.expect("AS")
        query = self.query()
        return s.CreateView(
            name=name,
            query=query,
            columns=columns,
            comment=comment,
            temporary=prefix.temporary,
            if_not_exists=if_not_exists,
            or_replace=prefix.replace,
            span=self.span_from(prefix.start),
        )

    def _create_function(self, prefix: _Prefix) -> s.Statement:
        if_not_exists = self._if_not_exists()
        name = self.qualified_name("the name of the function")
        self.expect("AS")
        identifier = text_of(self, "the function's place in single quotes")
        language = "JAVA"
        if self.take("LANGUAGE"):
            language = self.expect_any("JAVA", "SCALA", "PYTHON")
        if self.at("USING"):
            self.refuse("USING JAR", hint="put the module on the Python path")
        options = self.options() if self.take("WITH") else ()
        return s.CreateFunction(
            name=name,
            identifier=identifier,
            language=language,
            temporary=prefix.temporary,
            system=prefix.system,
            if_not_exists=if_not_exists,
            options=options,
            span=self.span_from(prefix.start),
        )

    def _create_database(self, prefix: _Prefix) -> s.Statement:
        self._never_temporary(prefix, "DATABASE")
        if_not_exists = self._if_not_exists()
        name = self.qualified_name("the name of the database")
        comment = self._comment()
        options = self.options() if self.take("WITH") else ()
        return s.CreateDatabase(name, comment, options, if_not_exists, self.span_from(prefix.start))

    def _create_catalog(self, prefix: _Prefix) -> s.Statement:
        self._never_temporary(prefix, "CATALOG")
        if_not_exists = self._if_not_exists()
        name = self.qualified_name("the name of the catalog")
        comment = self._comment()
        options = self.options() if self.take("WITH") else ()
        return s.CreateCatalog(name, comment, options, if_not_exists, self.span_from(prefix.start))

    def _never_temporary(self, prefix: _Prefix, kind: str) -> None:
        if prefix.temporary or prefix.replace:
            self.fail(f"a {kind} cannot be TEMPORARY or replaced", at=self.span_from(prefix.start))

    _CREATES: dict[str, Callable[[DdlParser, _Prefix], s.Statement]] = {  # noqa: RUF012
        "TABLE": _create_table,
        "VIEW": _create_view,
        "FUNCTION": _create_function,
        "DATABASE": _create_database,
        "CATALOG": _create_catalog,
    }

    # --- DROP ----------------------------------------------------------------------------------

    def drop(self) -> s.Statement:
        start = self.here
        self.expect("DROP")
        temporary = self.take("TEMPORARY")
        self.take("SYSTEM")
        if self.key in _UNSUPPORTED_OBJECTS:
            self.refuse(f"DROP {self.key}")
        kind = self.object_kind()
        if_exists = self.take("IF", "EXISTS")
        name = self.qualified_name(f"the name of the {kind.lower()}")
        cascade = kind == "DATABASE" and self.take_any("CASCADE", "RESTRICT") == "CASCADE"
        return s.Drop(kind, name, if_exists, temporary, cascade, self.span_from(start))

    def object_kind(self) -> s.ObjectKind:
        for kind in _KINDS:
            if self.take(kind):
                return kind
        self.expect_any(*_KINDS)
        raise AssertionError("the line above always fails")


@dataclass(frozen=True)
class _Prefix:
    """What stood between CREATE and the kind of object."""

    start: int
    replace: bool
    temporary: bool
    system: bool


_KINDS: tuple[s.ObjectKind, ...] = ("TABLE", "VIEW", "FUNCTION", "DATABASE", "CATALOG")
_LIKE_FEATURES = (
    *("ALL", "CONSTRAINTS", "DISTRIBUTION", "GENERATED", "METADATA", "OPTIONS"),
    *("PARTITIONS", "WATERMARKS"),
)
