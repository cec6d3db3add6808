"""PyFlink's `Schema` and `TableDescriptor`, as the DDL that they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tidemark.dialect import quoted_name, quoted_string
from tidemark.errors import TidemarkError
from tidemark.pyflink.api.table.types import DataType, RowType


class Schema:
    """The columns of a table, its watermark and its primary key."""

    def __init__(self, parts: Sequence[_Part]) -> None:
        self._parts = tuple(parts)

    @staticmethod
    def new_builder() -> Schema.Builder:
        return Schema.Builder()

    def __str__(self) -> str:
        return _in_lines(shown for _, shown in self._parts)

    def ddl(self) -> str:
        return _in_lines(written for written, _ in self._parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self._parts == other._parts

    def __hash__(self) -> int:
        return hash(self._parts)

    class Builder:
        """Collects the parts of a schema."""

        def __init__(self) -> None:
            self._parts: list[_Part] = []

        def column(self, column_name: str, data_type: DataType | str) -> Schema.Builder:
            return self._with(f"{quoted_name(column_name)} ", data_type)

        def from_fields(
            self, field_names: Iterable[str], field_data_types: Iterable[DataType | str]
        ) -> Schema.Builder:
            for name, type_ in zip(field_names, field_data_types, strict=True):
                self.column(name, type_)
            return self

        def from_row_data_type(self, data_type: DataType) -> Schema.Builder:
            if not isinstance(data_type, RowType):
                raise TypeError("from_row_data_type() takes DataTypes.ROW([...])")
            for field in data_type.fields:
                self.column(field.name, field.data_type)
            return self

        def from_schema(self, unresolved_schema: Schema) -> Schema.Builder:
            self._parts += unresolved_schema._parts
            return self

        def column_by_expression(self, column_name: str, expr: Any) -> Schema.Builder:
            return self._with(f"{quoted_name(column_name)} AS ", expr)

        def column_by_metadata(
            self,
            column_name: str,
            data_type: DataType | str,
            metadata_key: str | None = None,
            is_virtual: bool = False,
        ) -> Schema.Builder:
            key = "" if metadata_key is None else f" FROM {quoted_string(metadata_key)}"
            virtual = " VIRTUAL" if is_virtual else ""
            rest = f" METADATA{key}{virtual}"
            return self._with(f"{quoted_name(column_name)} ", data_type, rest)

        def watermark(self, column_name: str, watermark_expr: Any) -> Schema.Builder:
            return self._with(f"WATERMARK FOR {quoted_name(column_name)} AS ", watermark_expr)

        def primary_key(self, *column_names: str) -> Schema.Builder:
            return self.primary_key_named(f"PK_{'_'.join(column_names)}", *column_names)

        def primary_key_named(self, constraint_name: str, *column_names: str) -> Schema.Builder:
            names = ", ".join(map(quoted_name, column_names))
            name = quoted_name(constraint_name)
            return self._with(f"CONSTRAINT {name} PRIMARY KEY ({names}) NOT ENFORCED")

        def _with(self, before: str, given: Any = None, after: str = "") -> Schema.Builder:
            """A part with what is given in it; if that is a string, Flink shows it in brackets."""
            text = _text(given)
            shown = f"[{text}]" if isinstance(given, str) else text
            self._parts.append((f"{before}{text}{after}", f"{before}{shown}{after}"))
            return self

        def build(self) -> Schema:
            return Schema(self._parts)


# A part of a schema, as SQL declares it, and as Flink shows it.
_Part = tuple[str, str]


def _text(given: Any) -> str:
    """A type or an expression, which PyFlink takes as SQL and as an object."""
    if given is None:
        return ""
    return given.sql if isinstance(given, DataType) else str(given)


def _in_lines(parts: Iterable[str]) -> str:
    return "(\n" + ",\n".join(f"  {part}" for part in parts) + "\n)"


class FormatDescriptor:
    """A format and its options."""

    def __init__(self, name: str, options: dict[str, str]) -> None:
        self._name, self._options = name, options

    @staticmethod
    def for_format(format: str) -> FormatDescriptor.Builder:
        return FormatDescriptor.Builder(format)

    def get_format(self) -> str:
        return self._name

    def get_options(self) -> dict[str, str]:
        return dict(self._options)

    def __str__(self) -> str:
        return f"{self._name}{self._options}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FormatDescriptor) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    class Builder:
        """Collects the options of a format."""

        def __init__(self, name: str) -> None:
            self._name = name
            self._options: dict[str, str] = {}

        def option(self, key: Any, value: Any) -> FormatDescriptor.Builder:
            self._options[_key(key)] = _value(value)
            return self

        def build(self) -> FormatDescriptor:
            return FormatDescriptor(self._name, self._options)


class TableDescriptor:
    """A table, as CREATE TABLE declares it."""

    def __init__(
        self,
        schema: Schema | None,
        options: dict[str, str],
        partition_keys: Sequence[str] = (),
        comment: str | None = None,
    ) -> None:
        self._schema, self._options = schema, options
        self._partition_keys, self._comment = tuple(partition_keys), comment

    @staticmethod
    def for_connector(connector: str) -> TableDescriptor.Builder:
        return TableDescriptor.Builder(connector)

    def get_schema(self) -> Schema | None:
        return self._schema

    def get_options(self) -> dict[str, str]:
        return dict(self._options)

    def get_partition_keys(self) -> list[str]:
        return list(self._partition_keys)

    def get_comment(self) -> str | None:
        return self._comment

    def ddl(self, path: str, *, temporary: bool, if_not_exists: bool) -> str:
        """The statement that creates the table."""
        if self._schema is None:
            raise TidemarkError(
                "a table needs a schema", hint="add .schema(Schema.new_builder()...build())"
            )
        create = "CREATE TEMPORARY TABLE" if temporary else "CREATE TABLE"
        return f"{create}{' IF NOT EXISTS' if if_not_exists else ''} {path} " + "\n".join(
            [self._schema.ddl(), *self._rest()]
        )

    def __str__(self) -> str:
        return "\n".join([*([] if self._schema is None else [str(self._schema)]), *self._rest()])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TableDescriptor) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def _rest(self) -> Iterator[str]:
        if self._comment is not None:
            yield f"COMMENT {quoted_string(self._comment)}"
        if self._partition_keys:
            yield f"PARTITIONED BY ({', '.join(map(quoted_name, self._partition_keys))})"
        options = (f"  {quoted_string(k)} = {quoted_string(v)}" for k, v in self._options.items())
        yield "WITH (\n" + ",\n".join(options) + "\n)"

    class Builder:
        """Collects the parts of a table."""

        def __init__(self, connector: str) -> None:
            self._schema: Schema | None = None
            self._options = {"connector": connector}
            self._partition_keys: tuple[str, ...] = ()
            self._comment: str | None = None

        def schema(self, schema: Schema) -> TableDescriptor.Builder:
            self._schema = schema
            return self

        def option(self, key: Any, value: Any) -> TableDescriptor.Builder:
            self._options[_key(key)] = _value(value)
            return self

        def format(
            self, format: str | FormatDescriptor, format_option: Any = None
        ) -> TableDescriptor.Builder:
            prefix = "" if format_option is None else _key(format_option).removesuffix("format")
            if isinstance(format, str):
                format = FormatDescriptor(format, {})
            name = format.get_format()
            for key, value in format.get_options().items():
                self._options[f"{prefix}{name}.{key}"] = value
            self._options[f"{prefix}format"] = name
            return self

        def partitioned_by(self, *partition_keys: str) -> TableDescriptor.Builder:
            self._partition_keys = partition_keys
            return self

        def comment(self, comment: str) -> TableDescriptor.Builder:
            self._comment = comment
            return self

        def build(self) -> TableDescriptor:
            return TableDescriptor(self._schema, self._options, self._partition_keys, self._comment)


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"the key of an option is a string here, not {type(key).__name__}")
    return key


def _value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
