"""Iceberg's catalog without a server: a folder per table, with a file for each of its versions.

pyiceberg has none. A version is written under its own name, which fails if another writer was
quicker. Object stores do not promise that here, so on those a table is only read.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tidemark.errors import CatalogError, NotSupported
from tidemark.storage import Location

if TYPE_CHECKING:
    from pyiceberg.table import CommitTableResponse, Table

_HINT: Final = "version-hint.text"
_METADATA: Final = re.compile(r"v(\d+)\.(?:gz\.)?metadata\.json(?:\.gz)?")


@dataclass(frozen=True)
class HadoopCatalog:
    """As much of a catalog as tables need of it."""

    warehouse: Location
    properties: Mapping[str, str]

    def folder(self, identifier: tuple[str, ...]) -> Location:
        folder = self.warehouse
        for name in identifier:
            if "/" in name or name in ("", ".", ".."):
                raise CatalogError(
                    f"`{name}` cannot be a name in an Iceberg catalog of type 'hadoop'",
                    notes={"why": "its databases and tables are folders of the same names"},
                )
            folder = folder / name
        return folder

    def load_table(self, identifier: tuple[str, ...]) -> Table:
        from pyiceberg.exceptions import NoSuchTableError
        from pyiceberg.serializers import FromInputFile
        from pyiceberg.table import Table

        found = self._newest(identifier)
        if found is None:
            raise NoSuchTableError(f"Table does not exist: {'.'.join(identifier)}")
        uri = _with_scheme(found[1])
        io = self._io(uri)
        metadata = FromInputFile.table_metadata(io.new_input(uri))
        return Table(identifier, metadata, uri, io, self)

    def table_exists(self, identifier: tuple[str, ...]) -> bool:
        return self._newest(identifier) is not None

    def create_namespace_if_not_exists(self, namespace: tuple[str, ...]) -> None:
        """A namespace is a folder, which comes with its first table."""

    def list_namespaces(self) -> list[tuple[str]]:
        return [(name,) for name in self.warehouse.names() if not name.startswith(".")]

    def list_tables(self, namespace: tuple[str, ...]) -> list[tuple[str, ...]]:
        found = ((*namespace, name) for name in self.folder(namespace).names())
        return [identifier for identifier in found if self.table_exists(identifier)]

    def create_namespace(self, namespace: tuple[str, ...]) -> None:
        self._check_writable()
        self.folder(namespace).make()

    def drop_namespace(self, namespace: tuple[str, ...]) -> None:
        self._check_writable()
        folder = self.folder(namespace)
        if others := folder.names():
            raise CatalogError(
                f"database `{namespace[-1]}` cannot be dropped: its folder has other files",
                notes={"folder": str(folder), "has": ", ".join(others[:5])},
                hint="remove them first",
            )
        folder.remove_all()

    def rename_table(self, old: tuple[str, ...], new: tuple[str, ...]) -> None:
        raise NotSupported(
            f"renaming table {'.'.join(old)} in an Iceberg catalog of type 'hadoop'",
            notes={"why": "the name of a table is that of its folder (same in Flink)"},
        )

    def purge_table(self, identifier: tuple[str, ...]) -> None:
        self._check_writable()
        self.folder(identifier).remove_all()

    def create_table(
        self, identifier: tuple[str, ...], schema: Any, properties: Mapping[str, str]
    ) -> Table:
        from pyiceberg.catalog import Catalog
        from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
        from pyiceberg.table.metadata import new_table_metadata
        from pyiceberg.table.sorting import UNSORTED_SORT_ORDER

        version = int(properties.get("format-version", 2))
        own = Catalog._convert_schema_if_needed(schema, version)
        location = _with_scheme(self.folder(identifier))
        metadata = new_table_metadata(
            own, UNPARTITIONED_PARTITION_SPEC, UNSORTED_SORT_ORDER, location, {**properties}
        )
        self._write(identifier, 1, metadata)
        return self.load_table(identifier)

    def commit_table(self, table: Table, requirements: Any, updates: Any) -> CommitTableResponse:
        from pyiceberg.table import CommitTableResponse
        from pyiceberg.table.update import update_table_metadata

        identifier = table.name()
        found = self._newest(identifier)
        current = self.load_table(identifier)
        for requirement in requirements:
            requirement.validate(current.metadata)
        updated = update_table_metadata(
            base_metadata=current.metadata,
            updates=updates,
            enforce_validation=False,
            metadata_location=current.metadata_location,
        )
        assert found is not None
        written = self._write(identifier, found[0] + 1, updated)
        return CommitTableResponse(metadata=updated, metadata_location=written)

    def supports_server_side_planning(self) -> bool:
        return False

    def _delete_old_metadata(self, *_: object) -> None:
        """Old versions stay, as other writers of such catalogs leave them."""

    def _newest(self, identifier: tuple[str, ...]) -> tuple[int, Location] | None:
        folder = self.folder(identifier) / "metadata"
        numbered = [(m, name) for name in folder.names() if (m := _METADATA.fullmatch(name))]
        if not numbered:
            return None
        number, name = max((int(m[1]), name) for m, name in numbered)
        return number, folder / name

    def _write(self, identifier: tuple[str, ...], version: int, metadata: Any) -> str:
        from pyiceberg.exceptions import CommitFailedException
        from pyiceberg.serializers import ToOutputFile

        self._check_writable()
        folder = self.folder(identifier) / "metadata"
        folder.make()
        fresh, own = folder / f".{uuid.uuid4()}.json", folder / f"v{version}.metadata.json"
        io = self._io(_with_scheme(fresh))
        ToOutputFile.table_metadata(metadata, io.new_output(_with_scheme(fresh)))
        try:
            os.link(fresh.uri, own.uri)
        except FileExistsError:
            raise CommitFailedException(f"version {version} was made by another writer") from None
        finally:
            fresh.remove()
        (folder / _HINT).write(str(version).encode())
        return _with_scheme(own)

    def _check_writable(self) -> None:
        if not self.warehouse.is_local:
            raise NotSupported(
                "writing to an Iceberg catalog of type 'hadoop' in an object store",
                notes={"why": "two writers could replace each other's versions"},
                hint="use a catalog of type 'jdbc' or 'rest'",
            )

    def _io(self, uri: str) -> Any:
        from pyiceberg.io import load_file_io

        return load_file_io(dict(self.properties), uri)


def _with_scheme(location: Location) -> str:
    return location.for_spark
