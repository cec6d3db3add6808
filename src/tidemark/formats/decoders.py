"""The decoders by format name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from tidemark import types as t
from tidemark.formats import avro_confluent, avro_debezium
from tidemark.formats.avro_messages import AvroDecoder
from tidemark.formats.canal_json import canal_decoder
from tidemark.formats.csv import CsvDecoder
from tidemark.formats.debezium_json import debezium_decoder
from tidemark.formats.decoded import Decoder
from tidemark.formats.json import JsonDecoder
from tidemark.formats.maxwell_json import maxwell_decoder
from tidemark.formats.narrow_rows import NarrowRows, narrowed
from tidemark.formats.ogg_json import ogg_decoder
from tidemark.formats.protobuf import ProtobufDecoder
from tidemark.formats.protobuf_options import NAME as PROTOBUF
from tidemark.formats.raw import RawDecoder

# Of these, whole messages are decoded, and never a part of a file.
_OF_MESSAGES: Mapping[str, Callable[..., Decoder]] = {
    "avro": AvroDecoder,
    avro_confluent.NAME: avro_confluent.ConfluentDecoder,
    PROTOBUF: ProtobufDecoder,
}
DECODERS: Mapping[str, Callable[..., Decoder]] = {
    "csv": CsvDecoder,
    "json": JsonDecoder,
    "raw": RawDecoder,
}
CHANGELOG_DECODERS: Mapping[str, Callable[..., Decoder]] = {
    "canal-json": canal_decoder,
    "debezium-json": debezium_decoder,
    "maxwell-json": maxwell_decoder,
    "ogg-json": ogg_decoder,
}


def decoder(
    format_: str,
    fields: Sequence[t.Field],
    options: Mapping[str, Any],
    metadata: Sequence[str] = (),
    few: int | None = None,
    read: Collection[str] | None = None,
    narrow: Mapping[str, t.Row] | None = None,
) -> Decoder:
    """A decoder for fields, by their names in the format; they become columns with these names.

    The format's connector has checked the table's options. `metadata` are keys of the format's own
    metadata, which changelog formats have. Blocks of fewer than `few` records are read one by one.
    If only some fields are to be `read`, the others are not converted, and become no columns; those
    of changelog formats, of messages in Avro and of protobuf always are. Of the rows in JSON, only
    the fields of their `narrow` types are converted, and the others are NULL.
    """
    how: dict[str, Any] = {} if few is None else {"few": few}
    if format_ == avro_debezium.NAME:
        return avro_debezium.DebeziumDecoder(fields, options, metadata, **how)
    if format_ in _OF_MESSAGES:  # how fields are read depends on all of them
        return _OF_MESSAGES[format_](fields, options, **how)
    if format_ in CHANGELOG_DECODERS:
        return CHANGELOG_DECODERS[format_](fields, options, metadata, **how)
    if format_ == "csv":  # fields have no names there, only places
        return CsvDecoder(fields, options, read=read, **how)
    named = fields if read is None else [field for field in fields if field.name in read]
    if not narrow or format_ != "json":
        return DECODERS[format_](named, options, **how)
    return NarrowRows(JsonDecoder(narrowed(named, narrow), options, **how), named, narrow)
