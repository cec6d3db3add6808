"""CREATE and DROP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from sqlglot import exp

from tidemark.dialect import statements as s
from tidemark.dialect import unsupported
from tidemark.dialect.columns import ColumnParser
from tidemark.dialect.cursor import NUMBER
from tidemark.dialect.literals import string_of

# Objects that Flink can create and Tidemark cannot, with an alternative.


@dataclass
class _TableBody:
    """The part between the parentheses of CREATE TABLE or ALTER TABLE ADD."""

    columns: list[s.Column] = field(default_factory=list)
    watermark: s.Watermark | None = None
    primary_key: s.PrimaryKey | None = None


class DdlParser(ColumnParser):
    """Adds CREATE and DROP."""

    # --- CREATE --------------------------------------------------------------------------------

    def create(self) -> s.Statement:
        start = self.here
        self.expect("CREATE")
        replace = self.take("OR", "REPLACE") or self.take("OR", "ALTER")
        temporary = self.take("TEMPORARY")
        system = self.take("SYSTEM")
        kind = self.key
        if kind in unsupported.DROP.each:
            self.here += 1
            self.take("TABLE")
            name = "MATERIALIZED TABLE" if kind == "MATERIALIZED" else kind
            self.refuse(unsupported.CREATE, name, start=start)
        read = self._CREATES.get(kind)
        if read is None:
            self.fail_expecting("`TABLE`, `VIEW`, `FUNCTION`, `DATABASE` or `CATALOG`")
        if system and kind != "FUNCTION":
            self.fail("only functions can be SYSTEM")
        self.here += 1
        return read(self, _Prefix(start, replace, temporary, system))

    def _if_not_exists(self) -> bool:
        return self.take("IF", "NOT", "EXISTS")

    def replace_table(self) -> s.CreateTable:
        """`REPLACE TABLE ... AS query`"""
        start = self.here
        self.expect("REPLACE", "TABLE")
        prefix = _Prefix(start, replace=True, temporary=False, system=False)
        replacing = self._create_table(prefix)
        if replacing.query is None:
            self.fail_expecting(
                "`AS` and a query", hint="without a query it is CREATE OR REPLACE TABLE"
            )
        return replace(replacing, must_exist=True)

    def _create_table(self, prefix: _Prefix) -> s.CreateTable:
        if_not_exists = self._if_not_exists()
        name = self.qualified_name("a table name")
        order = self._plain_columns() if self._is_list_of_names() else ()
        body = self._table_body() if self.at("(") else _TableBody()
        comment = self._comment()
        distribution = self._distribution("DISTRIBUTED") if self.at("DISTRIBUTED") else None
        partitioned: tuple[str, ...] = ()
        if self.take("PARTITIONED", "BY"):
            partitioned = self._partition_columns()
        if self.at("STORED", "TBLPROPERTIES", "ROW"):
            self.fail_expecting(
                "`WITH`", hint="this is the dialect of Hive, which is not supported"
            )
        options = self.options() if self.take("WITH") else ()
        like = self._like_table() if self.take("LIKE") else None
        if order and not self.at("AS"):
            self.fail_expecting("`AS` and a query", hint=f"give the column `{order[0]}` a type")
        query = self._query_of_table(prefix, if_not_exists, like) if self.at("AS") else None
        return s.CreateTable(
            name=name,
            columns=tuple(body.columns),
            watermark=body.watermark,
            primary_key=body.primary_key,
            comment=comment,
            distribution=distribution,
            partitioned_by=partitioned,
            options=options,
            like=like,
            query=query,
            order=order,
            temporary=prefix.temporary,
            if_not_exists=if_not_exists,
            or_replace=prefix.replace,
            span=self.span_from(prefix.start),
        )

    def _distribution(self, word: str) -> s.Distribution:
        """`word BY [HASH | RANGE] (columns) [INTO n BUCKETS]`, or only `word INTO n BUCKETS`."""
        start = self.here
        self.expect(word)
        columns: tuple[str, ...] = ()
        by: Literal["HASH", "RANGE"] | None = None
        if self.take("BY"):
            by = "HASH" if self.take("HASH") else "RANGE" if self.take("RANGE") else None
            columns = self._plain_columns()
        buckets = None
        if not columns or self.at("INTO"):
            self.expect("INTO")
            buckets = self._count_of_buckets()
        return s.Distribution(columns, by, buckets, self.span_from(start))

    def _count_of_buckets(self) -> int:
        text = self.next().text if self.at(NUMBER) else ""
        if not text.isdigit() or int(text) == 0:
            self.here -= bool(text)
            self.fail("INTO ... BUCKETS takes a number from 1", hint="INTO 4 BUCKETS")
        self.expect("BUCKETS")
        return int(text)

    def _is_list_of_names(self) -> bool:
        """Whether columns without types follow: `(b, a)`."""
        if not self.at("(") or self.peek() == ")":
            return False
        place = 2
        while self.peek(place) == ",":
            place += 2
        return self.peek(place) == ")"

    def _query_of_table(
        self, prefix: _Prefix, if_not_exists: bool, like: s.Like | None
    ) -> exp.Expression:
        if like is not None:
            self.fail("CREATE TABLE takes LIKE or AS, not both", hint="leave LIKE out")
        if prefix.replace and if_not_exists:
            self.fail(
                "OR REPLACE and IF NOT EXISTS contradict each other",
                hint="leave one of them out",
            )
        self.expect("AS")
        return self.query()

    def _table_body(self) -> _TableBody:
        """`(column, WATERMARK ..., PRIMARY KEY ...)`; a trailing comma is allowed."""
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
                self.fail("a table can have only one watermark")
            body.watermark = self._watermark()
        elif self.at("CONSTRAINT") or self.sees("PRIMARY", "KEY"):
            self._one_primary_key(body, self._primary_key(start))
        elif self.sees("UNIQUE", "("):
            self.refuse(unsupported.UNIQUE)
        elif self.at("LIKE") and self.peek() != ".":
            self.refuse(unsupported.LIKE_INSIDE)
        else:
            self._add_column(body, start)

    def _add_column(self, body: _TableBody, start: int) -> None:
        column, is_key = self._column_and_key()
        if column.name in {other.name for other in body.columns}:
            self.fail(f"column `{column.name}` is declared twice", at=column.span)
        body.columns.append(column)
        if is_key:
            key = s.PrimaryKey((column.name,), span=self.span_from(start))
            self._one_primary_key(body, key)

    def _one_primary_key(self, body: _TableBody, key: s.PrimaryKey) -> None:
        if body.primary_key is not None:
            self.fail("a table can have only one primary key", at=key.span)
        body.primary_key = key

    # --- other objects -------------------------------------------------------------------------

    def _create_view(self, prefix: _Prefix) -> s.Statement:
        if_not_exists = self._if_not_exists()
        name = self.qualified_name("a view name")
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
        name = self.qualified_name("a function name")
        self.expect("AS")
        identifier = string_of(self, "'module.function' in single quotes")
        language = "JAVA"
        if self.take("LANGUAGE"):
            language = self.expect_any("JAVA", "SCALA", "PYTHON")
        if self.at("USING") and language == "PYTHON":
            self.refuse(unsupported.USING_JAR)
        jars = tuple(self.listed(self._jar)) if self.take("USING") else ()
        options = self.options() if self.take("WITH") else ()
        return s.CreateFunction(
            name=name,
            identifier=identifier,
            language=language,
            temporary=prefix.temporary,
            system=prefix.system,
            if_not_exists=if_not_exists,
            jars=jars,
            options=options,
            span=self.span_from(prefix.start),
        )

    def _jar(self) -> str:
        self.expect_any("JAR", "ARTIFACT")
        return string_of(self, "the path of a jar in single quotes")

    def _create_database(self, prefix: _Prefix) -> s.Statement:
        self._never_temporary(prefix, "DATABASE")
        if_not_exists = self._if_not_exists()
        name = self.qualified_name("a database name")
        comment = self._comment()
        options = self.options() if self.take("WITH") else ()
        return s.CreateDatabase(name, comment, options, if_not_exists, self.span_from(prefix.start))

    def _create_catalog(self, prefix: _Prefix) -> s.Statement:
        self._never_temporary(prefix, "CATALOG")
        if_not_exists = self._if_not_exists()
        name = self.one_name("a catalog name")
        comment = self._comment()
        options = self.options() if self.take("WITH") else ()
        return s.CreateCatalog(name, comment, options, if_not_exists, self.span_from(prefix.start))

    def _never_temporary(self, prefix: _Prefix, kind: str) -> None:
        if prefix.temporary or prefix.replace:
            self.fail(
                f"CREATE {kind} does not allow TEMPORARY or OR REPLACE",
                at=self.span_from(prefix.start),
            )

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
        if self.key in unsupported.DROP.each:
            self.refuse(unsupported.DROP, self.key)
        kind = self.object_kind()
        if_exists = self.take("IF", "EXISTS")
        name = self.name_of(kind)
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
    """The words between CREATE and the kind of object."""

    start: int
    replace: bool
    temporary: bool
    system: bool


_KINDS: tuple[s.ObjectKind, ...] = ("TABLE", "VIEW", "FUNCTION", "DATABASE", "CATALOG")
