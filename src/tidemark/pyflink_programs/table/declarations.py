"""PyFlink's `Schema` and `TableDescriptor`, as the DDL that they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tidemark.dialect import quoted_name, quoted_string
from tidemark.errors import TidemarkError
from tidemark.pyflink.api.table.types import DataType, RowType, sql_of


class Schema:
    """The columns of a table, its watermark and its primary key."""

    def __init__(self, parts: Sequence[str]) -> None:
        self._parts = tuple(parts)

    @staticmethod
    def new_builder() -> Schema.Builder:
        return Schema.Builder()

    def __str__(self) -> str:
        return "(\n" + ",\n".join(f"  {part}" for part in self._parts) + "\n)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self._parts == other._parts

    def __hash__(self) -> int:
        return hash(self._parts)

    class Builder:
        """Collects the parts of a schema."""

        def __init__(self) -> None:
            self._parts: list[str] = []

        def column(self, column_name: str, data_type: DataType | str) -> Schema.Builder:
            return self._with(f"{quoted_name(column_name)} {sql_of(data_type)}")

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
            return self._with(f"{quoted_name(column_name)} AS {_text(expr)}")

        def column_by_metadata(
            self,
            column_name: str,
            data_type: DataType | str,
            metadata_key: str | None = None,
            is_virtual: bool = False,
        ) -> Schema.Builder:
            key = "" if metadata_key is None else f" FROM {quoted_string(metadata_key)}"
            virtual = " VIRTUAL" if is_virtual else ""
            type_ = sql_of(data_type)
            return self._with(f"{quoted_name(column_name)} {type_} METADATA{key}{virtual}")

        def watermark(self, column_name: str, watermark_expr: Any) -> Schema.Builder:
            return self._with(
                f"WATERMARK FOR {quoted_name(column_name)} AS {_text(watermark_expr)}"
            )

        def primary_key(self, *column_names: str) -> Schema.Builder:
            names = ", ".join(map(quoted_name, column_names))
            return self._with(f"PRIMARY KEY ({names}) NOT ENFORCED")

        def primary_key_named(self, constraint_name: str, *column_names: str) -> Schema.Builder:
            names = ", ".join(map(quoted_name, column_names))
            name = quoted_name(constraint_name)
            return self._with(f"CONSTRAINT {name} PRIMARY KEY ({names}) NOT ENFORCED")

        def _with(self, part: str) -> Schema.Builder:
            self._parts.append(part)
            return self

        def build(self) -> Schema:
            return Schema(self._parts)


def _text(expression: Any) -> str:
    """An expression, which PyFlink takes as SQL and as an object."""
    return str(expression)


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
        return f"{create}{' IF NOT EXISTS' if if_not_exists else ''} {path} {self}"

    def __str__(self) -> str:
        return "\n".join([*([] if self._schema is None else [str(self._schema)]), *self._rest()])

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
