"""State of a key group in Spark's state store: a small manifest, and segments by id; large segments
are in files, to which the manifest refers.

Spark's store is authoritative; a cache closer to the worker saves most reads.

Spark may compute a micro-batch again, after a failure or because its rows are read twice, and then
continues from a mixture of what the attempts have stored: it assumes that they store the same. So a
stored segment's id is derived from its content.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Any

import polars as pl

from tidemark.errors import JobError
from tidemark.kernels.state import State
from tidemark.runtime.payloads import decode, encode
from tidemark.spark.stateful.cache import SegmentCache
from tidemark.spark.stateful.large_segments import LARGE, LargeSegments, is_due

# The formats of manifests and segments, without and with files. A reader that finds another number
# must not continue.
_FORMAT, _WITH_FILES = 1, 2
# A larger segment is stored in several pieces, so that no single value gets huge.
_PIECE = 16 << 20


@dataclass(slots=True)
class _Places:
    """Where the segments of a key group are, by id."""

    pieces: dict[str, int] = field(default_factory=dict)  # in Spark's store, in so many pieces
    files: list[str] = field(default_factory=list)
    # In files that the state needs no more, but an earlier one: by the save that dropped it.
    dropped: dict[str, int] = field(default_factory=dict)
    saves: int = 0  # of a state with files

    @classmethod
    def of(cls, manifest: dict[str, Any]) -> _Places:
        files, dropped = manifest.get("files", []), manifest.get("dropped", {})
        return cls(manifest["pieces"], files, dropped, manifest.get("saves", 0))

    def described(self) -> dict[str, Any]:
        """For the manifest. That of a state that never was in files is as it was without them."""
        with_files = bool(self.files or self.dropped)
        here = asdict(self) if with_files else {"pieces": self.pieces}
        return {"format": _WITH_FILES if with_files else _FORMAT, **here}

    def __contains__(self, id_: str) -> bool:
        return id_ in self.pieces or id_ in self.files


class StateStore:
    """Opens and saves the state of the key group that Spark is currently processing.

    Each call to Spark is a round trip: one to read the manifest, one to write it, and one per piece
    of a segment that is new, removed, or not in the cache. Without `files`, all segments are in
    Spark's store.
    """

    def __init__(
        self,
        manifest: Any,
        segments: Any,
        cache: SegmentCache,
        files: LargeSegments | None = None,
    ) -> None:
        self._manifest = manifest  # a Spark variable with a single value
        self._segments = segments  # a Spark variable with a value for each piece of each segment
        self._cache = cache
        self._files = files
        # Of the open key group.
        self._group = ""
        self._places = _Places()
        self.round_trips = 0

    def open(self, group: int = 0) -> tuple[State, dict[str, Any]]:
        """The state of a key group, and the notes of the host with it."""
        self.round_trips = 1
        self._group = str(group)
        self._places = _Places()
        found = self._manifest.get()
        if found is None:
            return State(), {}
        manifest = _known(json.loads(found[0]))
        self._places = _Places.of(manifest)
        return State.open(manifest["state"], self._load), manifest["notes"]

    def save(self, before: State, after: State, notes: dict[str, Any]) -> None:
        """Write what is new, remove what is gone."""
        old = {segment.id for segment in before.segments()}
        fresh = {s.id: s.rows() for s in after.segments() if s.id not in old}
        contents = {id_: encode(rows, compressed=True) for id_, rows in fresh.items()}
        ids = {id_: _id_of(content) for id_, content in contents.items()}
        after = after.with_ids(ids)
        self._places.saves += 1
        for id_ in old - {segment.id for segment in after.segments()}:
            self._remove(id_)
        for id_, content in contents.items():
            if ids[id_] not in self._places:
                self._write(ids[id_], fresh[id_], content)
        self._remove_files()
        manifest = {"state": after.manifest(), "notes": notes, **self._places.described()}
        self._manifest.update((json.dumps(manifest),))
        self.round_trips += 1

    def _write(self, id_: str, rows: pl.DataFrame, content: bytes) -> None:
        if self._files is not None and len(content) >= LARGE:
            self._files.write(self._group, id_, content)
            self._places.files.append(id_)
            self._places.dropped.pop(id_, None)
            # Another worker that needs it reads that file, and only then makes one to map.
            self._cache.hold(id_, rows)
        else:
            starts = range(0, len(content), _PIECE)
            for piece, start in enumerate(starts):
                self._segments.updateValue((id_, piece), (content[start : start + _PIECE],))
            self._places.pieces[id_] = len(starts)
            self.round_trips += len(starts)
            self._cache.put(id_, rows)

    def _load(self, id_: str) -> pl.DataFrame:
        rows = self._cache.get(id_)
        if rows is None:
            content = self._in_file(id_) if id_ in self._places.files else self._in_store(id_)
            if content is None:
                raise JobError(
                    f"a part of the state is missing from the checkpoint (segment {id_}); resume "
                    "from an earlier copy of it, or start over with another checkpoint folder"
                )
            rows = decode(content)
            self._cache.put(id_, rows)
        return rows

    def _in_file(self, id_: str) -> bytes | None:
        return None if self._files is None else self._files.read(self._group, id_)

    def _in_store(self, id_: str) -> bytes | None:
        count = self._places.pieces[id_]
        pieces = [self._segments.getValue((id_, n)) for n in range(count)]
        self.round_trips += count
        return None if None in pieces else b"".join(bytes(piece[0]) for piece in pieces)

    def _remove(self, id_: str) -> None:
        self._cache.forget(id_)
        if id_ in self._places.files:
            self._places.files.remove(id_)
            self._places.dropped[id_] = self._places.saves
            return
        for piece in range(self._places.pieces.pop(id_)):
            self._segments.removeKey((id_, piece))
            self.round_trips += 1

    def _remove_files(self) -> None:
        if self._files is None:
            return
        dropped = self._places.dropped
        if due := [id_ for id_, by in dropped.items() if is_due(by, self._places.saves)]:
            self._places.dropped = {id_: n for id_, n in dropped.items() if id_ not in due}
            self._files.remove(self._group, due, [*self._places.files, *self._places.dropped])


def _known(manifest: dict[str, Any]) -> dict[str, Any]:
    if manifest.get("format") not in (_FORMAT, _WITH_FILES):
        raise JobError(
            f"the state in the checkpoint has format {manifest.get('format')}, and this version "
            f"of Tidemark reads formats {_FORMAT} and {_WITH_FILES}",
            hint="resume with the version that wrote it, or start with another checkpoint folder",
        )
    return manifest


def _id_of(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
