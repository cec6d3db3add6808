"""The formats of files and messages, by name."""

from __future__ import annotations

from tidemark.connectors.formats.avro import AVRO
from tidemark.connectors.formats.avro_confluent import AVRO_CONFLUENT, DEBEZIUM_AVRO_CONFLUENT
from tidemark.connectors.formats.base import Format
from tidemark.connectors.formats.canal_json import CANAL_JSON
from tidemark.connectors.formats.columnar import ORC, PARQUET
from tidemark.connectors.formats.csv import CSV
from tidemark.connectors.formats.debezium_json import DEBEZIUM_JSON
from tidemark.connectors.formats.json import JSON
from tidemark.connectors.formats.maxwell_json import MAXWELL_JSON
from tidemark.connectors.formats.ogg_json import OGG_JSON
from tidemark.connectors.formats.protobuf import PROTOBUF
from tidemark.connectors.formats.raw import RAW

FORMATS: dict[str, Format] = {
    f.name: f
    for f in (
        JSON,
        CSV,
        RAW,
        AVRO,
        AVRO_CONFLUENT,
        PROTOBUF,
        PARQUET,
        ORC,
        DEBEZIUM_JSON,
        DEBEZIUM_AVRO_CONFLUENT,
        CANAL_JSON,
        MAXWELL_JSON,
        OGG_JSON,
    )
}
OF_FILES: dict[str, Format] = {f.name: f for f in FORMATS.values() if not f.only_messages}
