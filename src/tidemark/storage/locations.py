"""A file or folder on some file system, and the operations on it.

Object stores have no folders and cannot rename: an object becomes visible when it is complete, and
moving one copies it inside the store, which is just as atomic.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tidemark.errors import SetupError
from tidemark.storage.access import NO_ACCESS, Access
from tidemark.storage.filesystems import opened
from tidemark.storage.uris import is_local, resolve, scheme_of, shown

if TYPE_CHECKING:
    from pyarrow import NativeFile
    from pyarrow.fs import FileInfo, FileSystem

_OBJECT_STORES = {"s3a", "abfs", "abfss"}


class Found(NamedTuple):
    """A file below a folder: its relative path, and its size in bytes."""

    name: str
    size: int


@dataclass(frozen=True, slots=True)
class Location:
    """A file or folder by its URI; a local one by its absolute path."""

    uri: str
    access: Access = NO_ACCESS

    @classmethod
    def of(cls, path: str | os.PathLike[str], access: Access | None = None) -> Location:
        """Raises NotSupported for an unknown file system."""
        if isinstance(path, Location):
            return cls(path.uri, access or path.access)
        return cls(resolve(os.fspath(path)), access or NO_ACCESS)

    def __truediv__(self, name: str) -> Location:
        return Location(f"{self.uri.rstrip('/')}/{name}" if name else self.uri, self.access)

    def __fspath__(self) -> str:
        """So that a local one can be used as a path."""
        if not self.is_local:
            raise TypeError(f"{self} is not a local path")
        return self.uri

    def __str__(self) -> str:
        return shown(self.uri)

    @property
    def parent(self) -> Location:
        return Location(self.uri.rpartition("/")[0], self.access)

    @property
    def name(self) -> str:
        return self.uri.rpartition("/")[2]

    @property
    def is_local(self) -> bool:
        return is_local(self.uri)

    @property
    def for_spark(self) -> str:
        """With its scheme, so that Spark does not look for it on its default file system."""
        return f"file://{self.uri}" if self.is_local else self.uri

    # --- reading -------------------------------------------------------------------------------

    @property
    def is_file(self) -> bool:
        from pyarrow.fs import FileType

        return bool(self._info().type == FileType.File)

    @property
    def exists(self) -> bool:
        from pyarrow.fs import FileType

        return bool(self._info().type != FileType.NotFound)

    @property
    def modified_ms(self) -> int:
        """When the file was last changed. Raises FileNotFoundError if it does not exist."""
        changed = self._info().mtime_ns
        if changed is None:
            raise FileNotFoundError(str(self))
        return int(changed) // 1_000_000

    def files(self, *, below: bool = True) -> list[Found]:
        """The files by name, optionally those in subfolders too; none if it does not exist."""
        from pyarrow.fs import FileSelector

        system, path = self._opened()
        selector = FileSelector(path, allow_not_found=True, recursive=below)
        with self._reaching():
            infos = system.get_file_info(selector)
        found = [Found(posixpath.relpath(i.path, path), i.size) for i in infos if i.is_file]
        return sorted(found)

    def names(self) -> list[str]:
        """The names in the folder, including folders; none if it does not exist."""
        from pyarrow.fs import FileSelector

        if self.is_file:
            return []
        system, path = self._opened()
        found = system.get_file_info(FileSelector(path, allow_not_found=True))
        return sorted(info.base_name for info in found)

    def read(self) -> bytes | None:
        """The whole file; None if it does not exist."""
        self._finish_write()
        try:
            with self.input() as file:
                content: bytes = file.read()
        except FileNotFoundError:
            return None
        return content

    def input(self) -> NativeFile:
        """The file, for random access."""
        system, path = self._opened()
        with self._reaching():
            return system.open_input_file(path)

    # --- writing -------------------------------------------------------------------------------

    def output(self) -> NativeFile:
        """A new file, or new content of an existing one, which is visible when it is closed. Its
        folder must exist if the file system has folders.
        """
        system, path = self._opened()
        return system.open_output_stream(path)

    def write(self, content: bytes) -> None:
        """A file that is visible with all of its content or, if it existed, with the old one."""
        self.parent.make()
        if self._is_object:
            return self._put(content)
        self._finish_write()
        fresh = self._beside(".writing")
        fresh._put(content)
        if self._replaces:
            return fresh.move(self)
        # The old file must be removed first. A `.new` file is complete, and is used after a crash.
        fresh.move(self._beside(".new"))
        self.remove()
        return self._beside(".new").move(self)

    def move(self, to: Location) -> None:
        """Move a file on its file system, replacing an existing one."""
        system, path = self._opened()
        if not (self._is_object or self._replaces):
            to.remove()
        system.move(path, to._opened()[1])

    def move_folder(self, to: Location) -> None:
        """Move a folder on its file system to a path that does not exist; object by object in a
        store.
        """
        if not self._is_object:
            (system, path), (_, target) = self._opened(), to._opened()
            system.move(path, target)
            return
        for found in self.files():
            (self / found.name).move(to / found.name)
        self.remove_all()

    def copy(self, to: Location) -> None:
        """Copy a file, even to another file system. Raises FileNotFoundError if it does not
        exist.
        """
        from pyarrow.fs import copy_files

        to.parent.make()
        (system, path), (other, target) = self._opened(), to._opened()
        copy_files(path, target, source_filesystem=system, destination_filesystem=other)

    def make(self) -> None:
        """Create the folder and its parents, if the file system has folders."""
        if not self._is_object:
            system, path = self._opened()
            system.create_dir(path, recursive=True)

    def remove(self) -> None:
        """Remove the file if it exists."""
        system, path = self._opened()
        try:
            system.delete_file(path)
        except FileNotFoundError:
            return

    def remove_all(self) -> None:
        """Remove the folder with everything in it if it exists."""
        system, path = self._opened()
        try:
            system.delete_dir(path)
        except FileNotFoundError:
            return

    # --- internals -----------------------------------------------------------------------------

    def _opened(self) -> tuple[FileSystem, str]:
        return opened(self.uri, self.access)

    def _info(self) -> FileInfo:
        system, path = self._opened()
        with self._reaching():
            return system.get_file_info(path)

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        """An unreachable file system is not the program's fault."""
        try:
            yield
        except OSError as problem:
            if self.is_local or isinstance(problem, FileNotFoundError):
                raise
            raise SetupError(
                f"{self} cannot be reached: {problem}",
                hint="check the name, the credentials, the region and the endpoint",
            ) from problem

    def _put(self, content: bytes) -> None:
        with self.output() as file:
            file.write(content)

    def _beside(self, ending: str) -> Location:
        folder, _, name = self.uri.rpartition("/")
        return Location(f"{folder}/.{name.removeprefix('.')}{ending}", self.access)

    @property
    def _is_object(self) -> bool:
        return scheme_of(self.uri) in _OBJECT_STORES

    @property
    def _replaces(self) -> bool:
        """Whether a file may be renamed to an existing one; HDFS refuses."""
        return self.is_local

    def _finish_write(self) -> None:
        """Finish a write that was interrupted between removing the old file and moving the new
        one.
        """
        if not (self._is_object or self._replaces) and not self.exists:
            fresh = self._beside(".new")
            if fresh.exists:
                fresh.move(self)
