"""What `tidemark doctor` asks of an Iceberg table: is it there, and can it be read or written."""

from __future__ import annotations

from collections.abc import Iterator

from tidemark.connectors.base import ColumnsRequest, Probe, TableUse
from tidemark.connectors.iceberg.source import files
from tidemark.connectors.iceberg.tables import IcebergPlace, arrow_of, newest
from tidemark.connectors.lake import types as lake_types
from tidemark.connectors.lake.frames import fields_of
from tidemark.storage import NO_ACCESS


def probes(use: TableUse) -> Iterator[Probe]:
    place = IcebergPlace.of(use.table, use.options, NO_ACCESS)
    if use.made:
        yield Probe("table", lambda: f"{place} does not exist yet; the script creates it")
        return
    yield Probe("table", lambda: _table(use, place))
    if use.reading is not None:
        reading = use.reading
        yield Probe("read", lambda: _read(reading))
    if use.writes:
        yield Probe("write", lambda: _write(use, place))


def _table(use: TableUse, place: IcebergPlace) -> str:
    if use.reading is None and not place.exists():
        return f"{place} does not exist yet; the job creates it"
    snapshot = newest(place.opened(), place)
    return f"{place}, {'empty' if snapshot is None else f'snapshot {snapshot.snapshot_id}'}"


def _read(reading: ColumnsRequest) -> str:
    several = len(found := files(reading)) != 1
    size = sum(file.size for file in found)
    return f"columns and types fit; {len(found)} file{'s' * several}, {size:,} bytes"


def _write(use: TableUse, place: IcebergPlace) -> str:
    if not place.exists():
        return "there is nothing to fit yet"
    found = arrow_of(place.opened().schema())
    lake_types.check_writable(fields_of(use.table), found, str(place))
    return "columns and types fit"
