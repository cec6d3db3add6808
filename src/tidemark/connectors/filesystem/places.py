"""Where a filesystem table's files are: paths, globs, hidden files, partition folders."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn
from urllib.parse import quote

from tidemark.catalog.tables import Table
from tidemark.connectors.options import option_error
from tidemark.errors import DataError
from tidemark.storage import is_local, resolve, spelled_for_spark

_GLOB = re.compile(r"[*?\[]")
# A quarter of what Spark puts into one partition, including its cost of opening a file.
_READ_AT_ONE_GO = 32 * 1024 * 1024
_HADOOP_GLOB = re.compile(r"([*?\[\]{}\\])")
_COMMA = r"\,"  # between braces, a plain one separates patterns
# What is not allowed in a folder's name of the form `column=value`; the rule is Hive's.
_UNSAFE = re.compile(r"[\x00-\x1f\"#%'*/:=?\\\x7f{}\[\]^]")

# The lengths of TIMESTAMP values in folders' names: 2024-01-02T03:04:05.120.
TO_MILLISECONDS, TO_MICROSECONDS = 23, 26


@dataclass(frozen=True, slots=True)
class Place:
    """The path of a table that is read. A local one is absolute and without `file:`; any other is
    Spark's to open, which may know more file systems than are written to."""

    path: str
    local: bool

    @staticmethod
    def of(path: str) -> Place:
        if is_local(path):
            return Place(resolve(path), local=True)
        return Place(spelled_for_spark(path), local=False)

    @property
    def is_glob(self) -> bool:
        return _GLOB.search(self.path) is not None and not os.path.exists(self.path)

    @property
    def is_small_file(self) -> bool:
        """Whether it is a single file that is small enough for Spark to read in one partition."""
        return os.path.isfile(self.path) and os.path.getsize(self.path) < _READ_AT_ONE_GO

    @property
    def exists(self) -> bool:
        return os.path.exists(self.path) or (self.is_glob and bool(self._matches()))

    def files(self) -> tuple[str, ...]:
        """The data files by name; hidden ones, and those in hidden folders, are not data."""
        roots = self._matches() if self.is_glob else [self.path]
        return tuple(sorted({file for root in roots for file in _files_below(root)}))

    def _matches(self) -> list[str]:
        return glob.glob(self.path, recursive=True)


def _files_below(root: str) -> Iterator[str]:
    if is_hidden(os.path.basename(root)):
        return
    if not os.path.isdir(root):
        yield root
        return
    for folder, inside, names in os.walk(root, onerror=_cannot_list):
        inside[:] = [name for name in inside if not is_hidden(name)]
        yield from (os.path.join(folder, name) for name in names if not is_hidden(name))


def _cannot_list(problem: OSError) -> NoReturn:
    """Files that are not found would be rows that are lost in silence."""
    raise DataError(
        f"{problem.filename}  cannot read the folder", notes={"why": problem.strerror}
    ) from None


def is_hidden(name: str) -> bool:
    return name.startswith(("_", "."))


def as_hadoop_glob(path: str) -> str:
    """The path with all characters taken literally by a reader that expands globs."""
    return _HADOOP_GLOB.sub(r"\\\1", path)


def as_glob_of_file(path: str) -> str:
    """A pattern that only the file matches."""
    folder, name = map(as_hadoop_glob, os.path.split(path))
    return f"{folder}/{{{name.replace(',', _COMMA)}}}"


def partition_folder(values: Mapping[str, str | None], default: str) -> str:
    """`year=2024/month=1`; NULL and empty values have the default name."""
    return "/".join(f"{escaped(k)}={escaped(v) if v else default}" for k, v in values.items())


def escaped(text: str) -> str:
    """A column's name or value as it is in a folder's name."""
    return _UNSAFE.sub(lambda match: quote(match[0], safe=""), text)


def existing(table: Table, options: Mapping[str, Any]) -> Place:
    """The place of a table that is read. Raises OptionError if there is nothing."""
    place = Place.of(options["path"])
    if place.local and not place.exists:
        relative = not os.path.isabs(options["path"])
        raise option_error(
            table,
            "path",
            f"file or folder not found: {place.path}",
            notes=_no_rights(place.path),
            hint="relative paths are resolved against the working directory" if relative else None,
        )
    return place


def _no_rights(path: str) -> dict[str, object]:
    """Why a path that is there is not found, if that is so."""
    try:
        os.stat(path)
    except PermissionError as problem:
        return {"why": problem.strerror}
    except OSError:
        pass
    return {}


def wanted_files(place: Place, options: Mapping[str, Any]) -> list[str]:
    """The data files whose paths match."""
    wanted = options["source.path.regex-pattern"]
    pattern = None if wanted is None else re.compile(wanted)
    return [f for f in place.files() if pattern is None or pattern.fullmatch(f)]
