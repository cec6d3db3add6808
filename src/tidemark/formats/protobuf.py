"""Messages of Protocol Buffers to rows. The library parses them, which decides what is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import polars as pl
from google.protobuf.message import DecodeError

from tidemark import types as t
from tidemark.errors import DataError
from tidemark.formats.avro_messages import present
from tidemark.formats.decoded import Block, Decoded
from tidemark.formats.problems import cannot_read_record, data_error, skips_records
from tidemark.formats.protobuf_options import CLASS, DEFAULTS, DESCRIPTORS, IGNORE, NAME
from tidemark.formats.protobuf_schema import Descriptor, Message, MessageType, message_type
from tidemark.formats.protobuf_types import check_fields
from tidemark.formats.protobuf_values import Absent, MessageColumns, UnreadableField

_ID_OF_SCHEMA: Final = (
    "perhaps it begins with the ID of its schema, as Confluent's serializers write it; Flink has "
    "no format for that"
)


def type_of(options: Mapping[str, Any]) -> MessageType:
    """The message that a table's records are. Raises BadDescriptors or NoMessage."""
    return message_type(options[DESCRIPTORS], options[CLASS])


class ProtobufDecoder:
    """Decodes messages into rows. There is only one way, hence `few` has no effect."""

    def __init__(
        self, fields: Sequence[t.Field], options: Mapping[str, Any], *, few: int = 1
    ) -> None:
        of = type_of(options)
        check_fields(of.descriptor, fields)
        absent = Absent(bool(options.get(DEFAULTS, False)), of.proto3)
        self._columns = MessageColumns(of.descriptor, fields, absent)
        self._ignores = bool(options.get(IGNORE, False))
        self._message = of.made
        self._has_required = has_required(of.descriptor)

    def __call__(self, block: Block, *, file: str | None = None, first: int = 1) -> Decoded:
        values, index = present(block)
        content = values.to_pylist()
        try:
            rows = self._columns(self._parsed(content))
        except (DecodeError, UnreadableField):
            return self._without_bad(content, index, file, first, len(block))
        return Decoded(rows, index + first, records=len(block))

    def _parsed(self, content: Sequence[bytes]) -> list[Message]:
        messages = [*map(self._message.FromString, content)]
        if self._has_required:
            for each in messages:
                _check_required(each)
        return messages

    def _without_bad(
        self, content: Sequence[bytes], index: pl.Series, file: str | None, first: int, records: int
    ) -> Decoded:
        """The rows of the good messages; an error for the first bad one unless they are skipped."""
        parsed, bad = self._each_parsed(content)
        places = list(parsed)
        for place, why in self._unreadable([*parsed.values()], 0):
            bad[places[place]] = why
        if not self._ignores:
            place = min(bad)
            raise self._error(content[place], bad[place], file, index[place] + first)
        kept = [place for place in places if place not in bad]
        rows = self._columns([parsed[place] for place in kept])
        return Decoded(rows, index[kept] + first, records=records, skipped=len(bad))

    def _each_parsed(self, content: Sequence[bytes]) -> tuple[dict[int, Message], dict[int, str]]:
        """By their places, the messages that can be parsed, and why others cannot."""
        parsed: dict[int, Message] = {}
        bad: dict[int, str] = {}
        for place, each in enumerate(content):
            try:
                [parsed[place]] = self._parsed([each])
            except (DecodeError, UnreadableField) as problem:
                bad[place] = _said(problem, self._message.DESCRIPTOR)
        return parsed, bad

    def _unreadable(self, messages: Sequence[Message], start: int) -> list[tuple[int, str]]:
        """The places of messages that are not rows, and why: found in halves, as most are."""
        try:
            self._columns(messages)
        except UnreadableField as problem:
            if len(messages) == 1:
                return [(start, str(problem))]
            middle = len(messages) // 2
            found = self._unreadable(messages[:middle], start)
            if found and not self._ignores:
                return found
            return [*found, *self._unreadable(messages[middle:], start + middle)]
        return []

    def _error(self, content: bytes, why: str, file: str | None, number: int) -> DataError:
        hint = _ID_OF_SCHEMA if content[:1] == b"\0" else skips_records(IGNORE)
        return data_error(
            cannot_read_record(NAME),
            why=why,
            file=file,
            number=number,
            record=content.hex(" "),
            hint=hint,
        )


def _said(problem: Exception, message: Descriptor) -> str:
    """What the library says, without what it says each time."""
    if isinstance(problem, UnreadableField):
        return str(problem)
    detail = str(problem).rpartition(": ")[2]
    return f"its bytes are not a message {message.full_name} ({detail.lower()})"


def _check_required(message: Message) -> None:
    if message.IsInitialized():
        return
    # Not asked of the library: for keys of maps that are not UTF-8 it ends the process.
    fields = message.DESCRIPTOR.fields
    missing = [each.name for each in fields if each.is_required and not message.HasField(each.name)]
    if not missing:
        raise UnreadableField("a message inside it does not have all fields that it requires")
    listed = ", ".join(f"`{each}`" for each in missing)
    raise UnreadableField(f"it does not have {listed}, which the message requires")


def has_required(message: Descriptor) -> bool:
    """Whether a message, or one inside it, has fields that must be there."""
    seen, left = set(), [message]
    while left:
        found = left.pop()
        if found.full_name in seen:
            continue
        seen.add(found.full_name)
        if any(each.is_required for each in found.fields):
            return True
        left += [each.message_type for each in found.fields if each.message_type is not None]
    return False
