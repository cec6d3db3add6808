"""Tables of Delta: opened by delta-rs, at a version or a time, and what of them is understood."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tidemark.connectors.lake.stores import for_rust
from tidemark.connectors.unsupported import DELTA_FEATURE
from tidemark.errors import DataError, JobError, SetupError, TidemarkError
from tidemark.storage import Access, Location

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import DeltaTable

LOG: Final = "_delta_log"
# What readers need not know, or do know.
_READ: Final = {
    "timestampNtz",
    "deletionVectors",
    "vacuumProtocolCheck",
    "v2Checkpoint",
    "v2Checkpoint-preview",
}
# What does not concern a writer of new files, or is done by delta-rs when it merges.
_WRITTEN: Final = _READ | {
    "appendOnly",
    "changeDataFeed",
    "checkConstraints",
    "domainMetadata",
    "generatedColumns",
    "inCommitTimestamp",
    "inCommitTimestamp-preview",
    "invariants",
}
_CONSTRAINT: Final = "delta.constraints."
_OF_COLUMNS: Final = {
    "delta.invariants": "invariants",
    "delta.generationExpression": "generatedColumns",
    "delta.identity.start": "identityColumns",
}


@dataclass(frozen=True, slots=True)
class DeltaPlace:
    """Where a table is, and how its files are reached."""

    folder: Location

    @classmethod
    def of(cls, path: str, access: Access) -> DeltaPlace:
        return cls(Location.of(path, access))

    def __str__(self) -> str:
        return str(self.folder)

    def file(self, path: str) -> str:
        """The URI of a data file, which the log may name by its whole path."""
        from urllib.parse import unquote

        from tidemark.storage import resolve, scheme_of

        plain = unquote(path)
        if scheme_of(plain) is not None or plain.startswith("/"):
            return resolve(plain)
        return (self.folder / plain).uri

    @property
    def settings(self) -> dict[str, str]:
        return for_rust(self.folder.uri, self.folder.access)

    def opened(self, version: int | None = None) -> DeltaTable:
        """The table at a version, or the newest one. Raises DataError if there is none."""
        need_library()
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError, TableNotFoundError

        try:
            with self._reached():
                return DeltaTable(self.folder.uri, version=version, storage_options=self.settings)
        except TableNotFoundError:
            raise DataError(
                f"{self} is not a table of Delta",
                hint="check 'table-path'; an INSERT into it creates the table",
            ) from None
        except DeltaError as problem:
            if version is None:
                raise _unreadable(self, problem) from None
            raise DataError(
                f"{self} has no version {version}",
                notes={"newest": self.opened().version(), "why": _first_line(problem)},
                hint="old versions go when the log is cleaned up",
            ) from None

    def at(self, milliseconds: int) -> DeltaTable:
        """The table as it was at a time: the last version that is not after it."""
        import datetime as dt

        table = self.opened()
        time = dt.datetime.fromtimestamp(milliseconds / 1000, dt.UTC)
        with self._reached():
            table.load_as_version(time)
        version = table.version()
        if (made := self.made_ms(version)) > milliseconds:
            first = dt.datetime.fromtimestamp(made / 1000, dt.UTC)
            raise DataError(
                f"{self} has no version at {time:%Y-%m-%d %H:%M:%S} UTC or before",
                notes={"first": f"version {version} of {first:%Y-%m-%d %H:%M:%S} UTC"},
            )
        return table

    def exists(self) -> bool:
        need_library()
        from deltalake import DeltaTable

        with self._reached():
            return bool(DeltaTable.is_deltatable(self.folder.uri, self.settings))

    def made_ms(self, version: int) -> int:
        """When a version was made: the time of its file in the log, as Delta counts."""
        return self.commit(version).modified_ms

    def commit(self, version: int) -> Location:
        return self.folder / LOG / f"{version:020d}.json"

    @contextmanager
    def _reached(self) -> Iterator[None]:
        """What the library says of storage that cannot be reached."""
        try:
            yield
        except OSError as problem:
            raise SetupError(
                f"{self} cannot be reached: {_first_line(problem)}",
                hint="check the name, the credentials, the region and the endpoint",
            ) from None


def schema_of(table: DeltaTable) -> pa.Schema:
    import pyarrow as pa

    return pa.schema(table.schema().to_arrow())


# --- what is understood ------------------------------------------------------------------------


def check_reader(features: Any) -> None:
    for name in sorted({*(features or ())} - _READ):
        raise DELTA_FEATURE.error(None, name)


def check_readable(table: DeltaTable) -> None:
    """Raises NotSupported if rows could be read wrongly."""
    protocol = table.protocol()
    check_reader(protocol.reader_features)
    mapping = table.metadata().configuration.get("delta.columnMapping.mode", "none")
    if protocol.min_reader_version == 2 and mapping != "none":
        raise DELTA_FEATURE.error(None, "columnMapping")


def check_writable(table: DeltaTable) -> None:
    """Raises NotSupported if rows could be written that the table must not have."""
    check_readable(table)
    for name in sorted({*(table.protocol().writer_features or ())} - _WRITTEN):
        raise DELTA_FEATURE.error(None, name)
    if any(key.startswith(_CONSTRAINT) for key in table.metadata().configuration):
        raise DELTA_FEATURE.error(None, "checkConstraints")
    for field in table.schema().fields:
        for key, feature in _OF_COLUMNS.items():
            if key in (field.metadata or {}):
                where = f" (column `{field.name}`)"
                raise DELTA_FEATURE.error(None, feature, where=where)


# --- problems ----------------------------------------------------------------------------------


def need_library() -> None:
    """Raises SetupError if delta-rs is not installed."""
    try:
        import deltalake  # noqa: F401
    except ImportError:
        raise SetupError(
            "the delta connector needs the package deltalake",
            hint="pip install 'tidemark[delta]'; workers need it only if tables are looked up",
        ) from None


def _unreadable(place: DeltaPlace, problem: Exception) -> TidemarkError:
    return JobError(f"{place}  cannot read the table's log", notes={"why": _first_line(problem)})


def _first_line(problem: Exception) -> str:
    lines = str(problem).splitlines()
    return lines[0] if lines else type(problem).__name__
