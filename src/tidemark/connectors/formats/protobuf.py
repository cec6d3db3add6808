"""The format protobuf: messages of Protocol Buffers, described by a file instead of a class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tidemark.catalog.tables import Table
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.formats.base import Decode, Format, FormatField
from tidemark.connectors.options import option_error
from tidemark.dialect.statements import PhysicalColumn
from tidemark.errors import PlanError
from tidemark.formats.protobuf_options import (
    CLASS,
    DEFAULTS,
    DESCRIPTORS,
    IGNORE,
    NAME,
    NULL_LITERAL,
)
from tidemark.types import Field

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

OPTIONS = (
    OptionSpec(
        CLASS,
        required=True,
        summary="the Java class name of the message, such as 'com.example.Outer$Message'",
    ),
    OptionSpec(
        DESCRIPTORS,
        required=True,
        summary="the file written by `protoc --include_imports --descriptor_set_out`",
    ),
    OptionSpec(IGNORE, "boolean", False, summary="skip messages that cannot be read"),
    OptionSpec(
        DEFAULTS, "boolean", False, summary="read a field that a message lacks as its default value"
    ),
    OptionSpec(
        NULL_LITERAL, default="", summary="how NULL is written in arrays and maps of strings"
    ),
)


def check(table: Table, fields: tuple[FormatField, ...], options: Mapping[str, Any]) -> None:
    """The message is there, and has a field for each column."""
    from tidemark.formats.protobuf_schema import BadDescriptors, NoMessage, message_type
    from tidemark.formats.protobuf_types import ColumnMisfit, check_fields

    try:
        message = message_type(options[DESCRIPTORS], options[CLASS])
    except BadDescriptors as bad:
        key = _key(table, DESCRIPTORS, options)
        problem = f"cannot use the file of '{DESCRIPTORS}': {bad.why}"
        raise option_error(table, key, problem, hint=bad.hint) from None
    except NoMessage as bad:
        raise option_error(table, _key(table, CLASS, options), bad.why, hint=bad.hint) from None
    try:
        check_fields(message.descriptor, [Field(each.name, each.type) for each in fields])
    except ColumnMisfit as misfit:
        raise _misfit(table, misfit.column, misfit.why, misfit.hint) from None


def _misfit(table: Table, name: str, why: str, hint: str) -> PlanError:
    # A column of the key may have a prefix that its field does not have.
    columns = [
        each
        for each in table.columns
        if isinstance(each, PhysicalColumn) and each.name.endswith(name)
    ]
    column = min(columns, key=lambda each: len(each.name), default=None)
    return PlanError(
        f"column `{column.name if column else name}` does not fit the message",
        at=column.span if column else None,
        source=table.source,
        notes={"table": table.name, "why": why},
        hint=hint,
    )


def _key(table: Table, name: str, options: Mapping[str, Any]) -> str:
    """How the table spells an option that may be one of values or keys."""
    found = (
        o.key for o in table.options if o.key.lower().endswith(name) and o.value == options[name]
    )
    return next(found, name)


def _not_in_files(decode: Decode) -> DataFrame:
    raise AssertionError("protobuf is refused in files")


PROTOBUF = Format(NAME, OPTIONS, check, _not_in_files, only_messages=True)
