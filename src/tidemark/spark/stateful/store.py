"""State of a key group in Spark's state store: a small manifest, and segments by id.

Spark's store is authoritative; a cache closer to the worker saves most reads.

Spark may compute a micro-batch again, after a failure or because its rows are read twice, and then
continues from a mixture of what the attempts have stored: it assumes that they store the same. So a
stored segment's id is derived from its content.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import polars as pl

from tidemark.errors import JobError
from tidemark.kernels.state import State
from tidemark.runtime.payloads import decode, encode
from tidemark.spark.stateful.cache import SegmentCache

# The format of manifests and segments. A reader that finds another number must not continue.
_FORMAT = 1
# A larger segment is stored in several pieces, so that no single value gets huge.
_PIECE = 16 << 20


class StateStore:
    """Opens and saves the state of the key group that Spark is currently processing.

    Each call to Spark is a round trip: one to read the manifest, one to write it, and one per piece
    of a segment that is new, removed, or not in the cache.
    """

    def __init__(self, manifest: Any, segments: Any, cache: SegmentCache) -> None:
        self._manifest = manifest  # a Spark variable with a single value
        self._segments = segments  # a Spark variable with a value for each piece of each segment
        self._cache = cache
        self._pieces: dict[
            str, int
        ] = {}  # for the open key group: the number of pieces of each segment
        self.round_trips = 0

    def open(self) -> tuple[State, dict[str, Any]]:
        """The state, and the notes of the host with it."""
        self.round_trips = 1
        self._pieces = {}
        found = self._manifest.get()
        if found is None:
            return State(), {}
        manifest = _known(json.loads(found[0]))
        self._pieces = manifest["pieces"]
        return State.open(manifest["state"], self._load), manifest["notes"]

    def save(self, before: State, after: State, notes: dict[str, Any]) -> None:
        """Write what is new, remove what is gone."""
        old = {segment.id for segment in before.segments()}
        fresh = {s.id: s.rows() for s in after.segments() if s.id not in old}
        contents = {id_: encode(rows, compressed=True) for id_, rows in fresh.items()}
        ids = {id_: _id_of(content) for id_, content in contents.items()}
        after = after.with_ids(ids)
        for id_ in old - {segment.id for segment in after.segments()}:
            self._remove(id_)
        for id_, content in contents.items():
            if ids[id_] not in self._pieces:
                self._write(ids[id_], fresh[id_], content)
        manifest = {
            "format": _FORMAT,
            "state": after.manifest(),
            "notes": notes,
            "pieces": self._pieces,
        }
        self._manifest.update((json.dumps(manifest),))
        self.round_trips += 1

    def _write(self, id_: str, rows: pl.DataFrame, content: bytes) -> None:
        starts = range(0, len(content), _PIECE)
        for piece, start in enumerate(starts):
            self._segments.updateValue((id_, piece), (content[start : start + _PIECE],))
        self._pieces[id_] = len(starts)
        self.round_trips += len(starts)
        self._cache.put(id_, rows)

    def _load(self, id_: str) -> pl.DataFrame:
        rows = self._cache.get(id_)
        if rows is None:
            pieces = [self._segments.getValue((id_, n)) for n in range(self._pieces[id_])]
            self.round_trips += len(pieces)
            if None in pieces:
                raise JobError(
                    f"a part of the state is missing from the checkpoint (segment {id_}); resume "
                    "from an earlier copy of it, or start over with another checkpoint folder"
                )
            rows = decode(b"".join(bytes(piece[0]) for piece in pieces))
            self._cache.put(id_, rows)
        return rows

    def _remove(self, id_: str) -> None:
        self._cache.forget(id_)
        for piece in range(self._pieces.pop(id_)):
            self._segments.removeKey((id_, piece))
            self.round_trips += 1


def _known(manifest: dict[str, Any]) -> dict[str, Any]:
    if manifest.get("format") != _FORMAT:
        raise JobError(
            f"the state in the checkpoint has format {manifest.get('format')}, and this version "
            f"of Tidemark reads format {_FORMAT}",
            hint="resume with the version that wrote it, or start with another checkpoint folder",
        )
    return manifest


def _id_of(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
