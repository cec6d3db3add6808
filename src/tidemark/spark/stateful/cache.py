"""Segments near the worker: in its memory, and in files that all workers of a host share.

Spark's state store is authoritative, but slow to read. A stored segment's id is derived from its
rows, so a segment with an id of the manifest is correct, whichever worker cached it.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from tidemark.runtime.payloads import mapped, write


@dataclass(slots=True)
class SegmentFiles:
    """Segments as Arrow files in a folder, memory-mapped: what a step does not touch is not
    read. Over `capacity` bytes, the least recently used files are removed.
    """

    folder: Path
    capacity: int = 8 << 30
    _written: int = 0

    def get(self, id_: str) -> pl.DataFrame | None:
        path = self._path(id_)
        try:
            frame = mapped(path)
            os.utime(path)
        except FileNotFoundError:
            return None
        return frame

    def put(self, id_: str, frame: pl.DataFrame) -> None:
        """Other workers see the file complete or not at all."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        unfinished = self.folder / f"{uuid.uuid4().hex}.part"
        write(frame, unfinished)
        self._written += unfinished.stat().st_size
        unfinished.replace(self._path(id_))
        if self._written > self.capacity // 8:
            self._written = 0
            self._make_room()

    def forget(self, id_: str) -> None:
        # Workers that have mapped the file can still read it.
        self._path(id_).unlink(missing_ok=True)

    def _path(self, id_: str) -> Path:
        return self.folder / f"{id_}.arrow"

    def _make_room(self) -> None:
        files = []
        for path in self.folder.iterdir():
            with contextlib.suppress(FileNotFoundError):
                found = path.stat()
                files.append((found.st_mtime, found.st_size, path))
        held = 0
        for _, size, path in sorted(files, reverse=True):
            held += size
            if held > self.capacity:
                path.unlink(missing_ok=True)


@dataclass(slots=True)
class SegmentCache:
    """Decoded segments of this worker, with the least recently used evicted first; backed by the
    host's files, if there are any.
    """

    capacity: int = 512 << 20
    files: SegmentFiles | None = None
    held: int = 0
    frames: OrderedDict[str, tuple[pl.DataFrame, int]] = field(default_factory=OrderedDict)

    def get(self, id_: str) -> pl.DataFrame | None:
        if id_ in self.frames:
            self.frames.move_to_end(id_)
            return self.frames[id_][0]
        found = self.files.get(id_) if self.files else None
        if found is not None:
            self.hold(id_, found)
        return found

    def put(self, id_: str, frame: pl.DataFrame) -> None:
        self.hold(id_, frame)
        if self.files:
            self.files.put(id_, frame)

    def hold(self, id_: str, frame: pl.DataFrame) -> None:
        """In this worker only."""
        size = int(frame.estimated_size())
        self.frames[id_] = (frame, size)
        self.held += size
        while self.held > self.capacity and len(self.frames) > 1:
            _, (_, freed) = self.frames.popitem(last=False)
            self.held -= freed

    def forget(self, id_: str) -> None:
        _, size = self.frames.pop(id_, (None, 0))
        self.held -= size
        if self.files:
            self.files.forget(id_)


_OF_THIS_WORKER = SegmentCache()


def of_this_worker() -> SegmentCache:
    """The worker's cache. Its files are where Spark keeps those of the application, and removes
    them with it.
    """
    from pyspark import SparkFiles

    if _OF_THIS_WORKER.files is None:
        folder = Path(SparkFiles.getRootDirectory()) / "tidemark-segments"
        _OF_THIS_WORKER.files = SegmentFiles(folder)
    return _OF_THIS_WORKER
