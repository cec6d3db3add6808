"""What `tidemark doctor` asks of a Delta table: is it there, and can it be read or written."""

from __future__ import annotations

from collections.abc import Iterator

from tidemark.connectors.base import ColumnsRequest, Doubt, Probe, TableUse
from tidemark.connectors.delta import options as o
from tidemark.connectors.delta.source import files
from tidemark.connectors.delta.tables import DeltaPlace, check_writable, schema_of
from tidemark.connectors.lake import types as lake_types
from tidemark.connectors.lake.frames import fields_of
from tidemark.storage import NO_ACCESS


def probes(use: TableUse) -> Iterator[Probe]:
    place = DeltaPlace.of(use.options[o.PATH], NO_ACCESS)
    yield Probe("table", lambda: _table(use, place))
    if use.reading is not None:
        reading = use.reading
        yield Probe("read", lambda: _read(reading))
    if use.writes:
        yield Probe("write", lambda: _write(use, place))


def _table(use: TableUse, place: DeltaPlace) -> str | Doubt:
    if use.reading is None and not place.exists():
        return f"{place} does not exist yet; the job creates it"
    return f"{place}, version {place.opened().version()}"


def _read(reading: ColumnsRequest) -> str:
    several = len(found := files(reading)) != 1
    size = sum(file.size for file in found)
    return f"columns and types fit; {len(found)} file{'s' * several}, {size:,} bytes"


def _write(use: TableUse, place: DeltaPlace) -> str:
    if not place.exists():
        return "there is nothing to fit yet"
    table = place.opened()
    check_writable(table)
    lake_types.check_writable(fields_of(use.table), schema_of(table), str(place))
    return "columns and types fit"
