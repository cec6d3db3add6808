"""Tables of Iceberg: found by their catalogs, and read at a snapshot."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlsplit

from tidemark.catalog.tables import Table
from tidemark.connectors.iceberg import options as o
from tidemark.connectors.iceberg.hadoop import HadoopCatalog
from tidemark.errors import DataError, JobError, NotSupported, SetupError, TidemarkError
from tidemark.storage import Access, Location, scheme_of
from tidemark.storage.s3 import s3_options

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.schema import Schema
    from pyiceberg.table import Table as IcebergTable
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.snapshots import Snapshot

_JDBC: Final = re.compile(r"jdbc:(sqlite|postgresql):(.*)", re.DOTALL)
# pyiceberg's names of what Arrow's S3 takes.
_S3: Final = {
    "access_key": "s3.access-key-id",
    "secret_key": "s3.secret-access-key",
    "session_token": "s3.session-token",
    "region": "s3.region",
    "role_arn": "s3.role-arn",
    "session_name": "s3.role-session-name",
}


@dataclass(frozen=True, slots=True)
class IcebergPlace:
    """A table in a catalog, and how both are reached."""

    catalog: str
    kind: str
    identifier: tuple[str, ...]
    branch: str
    properties: tuple[tuple[str, str], ...] = field(repr=False)
    warehouse: Location | None = None

    @classmethod
    def of(cls, table: Table, options: Mapping[str, Any], access: Access) -> IcebergPlace:
        kind, warehouse = o.catalog_type(options), options[o.WAREHOUSE]
        where = None if warehouse is None else Location.of(warehouse, access)
        properties = {
            "py-io-impl": "pyiceberg.io.pyarrow.PyArrowFileIO",
            **({} if where is None else _of_s3(where.uri, access)),
            **o.catalog_properties(options),
        }
        if options[o.URI] is not None:
            properties["uri"] = _uri(options) if kind in ("jdbc", "sql") else options[o.URI]
        if where is not None:
            # A REST catalog may have names of its own for warehouses.
            properties["warehouse"] = warehouse if kind == "rest" else where.for_spark
        database = options[o.DATABASE] or table.identifier.database
        name = options[o.TABLE] or table.identifier.name
        return cls(
            options[o.NAME],
            kind,
            (database, name),
            options[o.BRANCH],
            tuple(sorted(properties.items())),
            where,
        )

    def __str__(self) -> str:
        return ".".join((self.catalog, *self.identifier))

    def opened_catalog(self) -> Any:
        need_library()
        if self.kind == "hadoop":
            assert self.warehouse is not None
            return HadoopCatalog(self.warehouse, dict(self.properties))
        from pyiceberg.catalog import load_catalog

        with self.asking():
            return load_catalog(self.catalog, type=o.TYPES[self.kind], **dict(self.properties))

    def opened(self) -> IcebergTable:
        """The table as it is now. Raises DataError if there is none."""
        from pyiceberg.exceptions import NoSuchTableError

        catalog = self.opened_catalog()
        try:
            with self.asking():
                return catalog.load_table(self.identifier)
        except NoSuchTableError:
            raise DataError(
                f"catalog `{self.catalog}` has no table {'.'.join(self.identifier)}",
                hint="check 'catalog-database' and 'catalog-table'; an INSERT creates the table",
            ) from None

    def exists(self) -> bool:
        catalog = self.opened_catalog()
        with self.asking():
            return bool(catalog.table_exists(self.identifier))

    def asking(self) -> AbstractContextManager[None]:
        return asking(f"the catalog of {self}")


def _uri(options: Mapping[str, Any]) -> str:
    """The URL of a database as SQLAlchemy writes it."""
    found = _JDBC.fullmatch(options[o.URI])
    if found is None:
        return str(options[o.URI])
    system, rest = found.groups()
    if system == "sqlite":
        path = rest.removeprefix("file:")
        return f"sqlite:///{path if path == ':memory:' else os.path.abspath(path)}"
    user, password = options["jdbc.user"], options["jdbc.password"]
    login = f"{quote(user, safe='')}:{quote(password or '', safe='')}@" if user else ""
    return f"postgresql+psycopg://{login}{rest.removeprefix('//')}"


def _of_s3(uri: str, access: Access) -> dict[str, str]:
    """Spark's settings of S3, as pyiceberg has them."""
    if scheme_of(uri) != "s3a":
        return {}
    options = s3_options(access.of_bucket(urlsplit(uri).netloc))
    found = {_S3[key]: str(value) for key, value in options.items() if key in _S3 and value}
    if "endpoint_override" in options:
        found["s3.endpoint"] = f"{options['scheme']}://{options['endpoint_override']}"
        virtual = options["force_virtual_addressing"]
        found["s3.force-virtual-addressing"] = str(virtual).lower()
    if options.get("anonymous"):
        found["s3.anonymous"] = "true"
    return found


# --- snapshots ---------------------------------------------------------------------------------


def newest(table: IcebergTable, place: IcebergPlace) -> Snapshot | None:
    """The last snapshot of the branch; None of a table that never had rows."""
    found = table.metadata.snapshot_by_name(place.branch)
    if found is None and place.branch != "main":
        raise _no_reference(table, place, "branch", place.branch)
    return found


def tagged(table: IcebergTable, place: IcebergPlace, tag: str) -> Snapshot:
    found = table.metadata.snapshot_by_name(tag)
    if found is None:
        raise _no_reference(table, place, "tag", tag)
    return found


def _no_reference(table: IcebergTable, place: IcebergPlace, what: str, name: str) -> DataError:
    known = ", ".join(sorted(table.metadata.refs)) or "none"
    return DataError(f"{place} has no {what} '{name}'", notes={"branches and tags": known})


def schema_at(metadata: TableMetadata, snapshot: Snapshot | None) -> Schema:
    """The columns of a snapshot; those of today for one that does not say."""
    if snapshot is None or snapshot.schema_id is None:
        return metadata.schema()
    return next(s for s in metadata.schemas if s.schema_id == snapshot.schema_id)


def arrow_of(schema: Schema) -> pa.Schema:
    """The columns in Arrow, with strings and lists of the usual size."""
    import pyarrow as pa
    from pyiceberg.io.pyarrow import schema_to_pyarrow

    plain = schema_to_pyarrow(schema, include_field_ids=False)
    return pa.schema([field.with_type(_of_usual_size(field.type)) for field in plain])


def _of_usual_size(type_: Any) -> Any:
    import pyarrow as pa
    from pyarrow import types as p

    if p.is_large_string(type_):
        return pa.string()
    if p.is_large_binary(type_):
        return pa.binary()
    if p.is_struct(type_):
        fields = [type_.field(i) for i in range(type_.num_fields)]
        return pa.struct([one.with_type(_of_usual_size(one.type)) for one in fields])
    if p.is_map(type_):
        item = type_.item_field.with_type(_of_usual_size(type_.item_type))
        return pa.map_(_of_usual_size(type_.key_type), item)
    if p.is_list(type_) or p.is_large_list(type_):
        return pa.list_(type_.value_field.with_type(_of_usual_size(type_.value_type)))
    return type_


@lru_cache(16)
def metadata_of(location: str, properties: tuple[tuple[str, str], ...]) -> Any:
    """The metadata in a file, which a worker reads once."""
    from pyiceberg.table import StaticTable

    return StaticTable.from_metadata(location, dict(properties))


# --- problems ----------------------------------------------------------------------------------


@contextmanager
def asking(catalog: str) -> Iterator[None]:
    """What catalogs say that cannot be reached, or do not let in."""
    from pyiceberg.exceptions import NoSuchTableError, NotInstalledError

    try:
        yield
    except (TidemarkError, NoSuchTableError):
        raise
    except (NotInstalledError, ModuleNotFoundError) as problem:
        raise SetupError(f"{catalog} needs another package: {first_line(problem)}") from None
    except Exception as problem:
        # Databases, HTTP and Thrift have exceptions of their own.
        raise JobError(
            f"{catalog} did not answer as expected",
            notes={"why": f"{type(problem).__name__}: {first_line(problem)}"},
            hint="check 'uri', 'warehouse' and the credentials",
        ) from None


def need_library() -> None:
    """Raises SetupError if pyiceberg is not installed."""
    try:
        import pyiceberg  # noqa: F401
    except ImportError:
        raise SetupError(
            "the iceberg connector needs the package pyiceberg",
            hint="pip install 'tidemark[iceberg]', on the machines of the workers too",
        ) from None


def first_line(problem: Exception) -> str:
    lines = str(problem).splitlines()
    return lines[0] if lines else type(problem).__name__


def understood(problem: Exception, place: IcebergPlace) -> TidemarkError:
    """What pyiceberg says that it cannot read."""
    text = first_line(problem)
    if "equality delete" in text.lower():
        return NotSupported(
            f"{place} has equality deletes, which pyiceberg does not read",
            hint="compact the table with the system that wrote it, which applies them",
        )
    return JobError(f"cannot read {place}", notes={"why": text})
