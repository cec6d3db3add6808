"""Moves the files of a batch into place: they are staged next to the data under a hidden name.

A file is visible with all of its content or not at all. A micro-batch that is repeated after a
restart replaces the files of its first attempt: those of the last batch of each job are listed in
a hidden note, with the partitions that wait to be committed.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

from tidemark.connectors.base import Target
from tidemark.connectors.filesystem.partition_commit import PartitionCommit, now_ms
from tidemark.connectors.filesystem.places import is_hidden
from tidemark.errors import SetupError
from tidemark.storage import Location

if TYPE_CHECKING:
    from tidemark.spark.upkeep import Moment

# Leaves files in a folder for this alone, and says which, and to which folder below the table's
# each belongs.
Stage = Callable[[], Iterable[tuple[Location, str]]]


@dataclass(frozen=True, slots=True)
class Note:
    """What a job keeps in a table's folder: its last batch, the files of that, and the partitions
    that wait to be committed, each with the time since when, in milliseconds, and the batch that
    last wrote to it.
    """

    batch: int | None = None
    files: tuple[str, ...] = ()
    waiting: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def read(cls, place: Location) -> Note:
        content = place.read()
        if content is None:
            return cls()
        values = json.loads(content)
        # Earlier versions let no partition wait.
        waiting = {n: (since, batch) for n, (since, batch) in values.get("waiting", {}).items()}
        return cls(values["batch"], tuple(values["files"]), waiting)

    def write(self, place: Location) -> None:
        place.write(json.dumps(asdict(self)).encode())

    def before(self, batch: int) -> Note:
        """Without what a first attempt of a batch has written."""
        old = {name: seen for name, seen in self.waiting.items() if seen[1] < batch}
        return replace(self, files=(), waiting=old)

    def after(self, batch: int, files: Iterable[str], partitions: Iterable[str]) -> Note:
        """With a batch's files, and the partitions that it lets wait."""
        since = {name: self.waiting.get(name, (now_ms(), 0))[0] for name in partitions}
        fresh = {name: (time, batch) for name, time in since.items()}
        return Note(batch, tuple(files), {**self.waiting, **fresh})


def job_of(target: Target) -> str | None:
    """The job's identity. A job that begins anew in the place of an old checkpoint is another one:
    its batches have the same numbers, and must not replace the files that were written before.
    """
    if target.job is None:
        return None
    return hashlib.sha256(f"{target.job} {target.started}".encode()).hexdigest()[:16]


def note_of(folder: Location, job: str) -> Location:
    return folder / f".tidemark-{job}"


# A job's note is written by its batches and between them, by two threads.
_LOCKS: dict[str, threading.Lock] = defaultdict(threading.Lock)


def commit_due(folder: Location, job: str, commit: PartitionCommit, moment: Moment) -> None:
    """Commit the partitions that are complete; a crash between has it done once more, to the same
    effect."""
    place = note_of(folder, job)
    with _LOCKS[place.uri]:
        note, now = Note.read(place), now_ms()
        due = [
            partition
            for partition, (since, batch) in note.waiting.items()
            if moment.ended
            or (batch <= moment.batch and commit.is_due(partition, since, now, moment.watermark_ms))
        ]
        for partition in due:
            (folder / partition / commit.success_file).write(b"")
        if due:
            left = {name: seen for name, seen in note.waiting.items() if name not in due}
            replace(note, waiting=left).write(place)


@contextmanager
def may_write(folder: Location) -> Iterator[None]:
    """Raises SetupError for what fails inside because of missing rights."""
    try:
        yield
    except PermissionError as problem:
        raise SetupError(
            f"cannot write to {folder}: {problem}",
            hint="check the owner and the rights of the folder",
        ) from problem


@dataclass(frozen=True, slots=True)
class Delivery:
    target: Target
    folder: Location
    job: str | None  # None: batches are not repeated
    batch_id: int | None

    @property
    def name(self) -> str:
        """Identifies this write: the same for a repeated micro-batch, otherwise unique.

        The names of files ascend as they are written, because readers read them in that order.
        """
        if self.job is None or self.batch_id is None:
            return f"{time.time_ns():020d}-{uuid.uuid4().hex[:8]}"
        return f"{self.job}-{self.batch_id:010d}"

    def run(self, staging: Location, stage: Stage) -> None:
        with _LOCKS[note_of(self.folder, self.job).uri] if self.job else nullcontext():
            try:
                with may_write(self.folder):
                    self._deliver(stage)
            finally:
                staging.remove_all()

    def _deliver(self, stage: Stage) -> None:
        self.folder.make()
        before = self._without_first_attempt()
        staged = list(stage())
        name = self.name
        files = [
            posixpath.join(folder, f"part-{name}-{number:05d}")
            for number, (_, folder) in enumerate(staged)
        ]
        folders = {folder for _, folder in staged}
        self._note(before, files, folders)
        if self.target.overwrite:
            self._clear(folders)
        for (origin, _), file in zip(staged, files, strict=True):
            target = self.folder / file
            target.parent.make()
            origin.move(target)
        self._commit(folders)

    # --- batches that come again, and overwriting --------------------------------------------

    def _without_first_attempt(self) -> Note:
        if self.job is None or self.batch_id is None:
            return Note()
        note = self._last_note(self.job, self.batch_id)
        if note.batch != self.batch_id:
            return note
        for name in note.files:
            (self.folder / name).remove()
        return note.before(self.batch_id)

    def _last_note(self, job: str, batch_id: int) -> Note:
        """The job's note. Earlier versions kept it by the place of the checkpoint alone; there, it
        may be that of an old one if this is the first batch.
        """
        place, earlier = note_of(self.folder, job), self.target.job
        if earlier is not None and batch_id > 0 and place.read() is None:
            place = note_of(self.folder, earlier)
        return Note.read(place)

    def _note(self, before: Note, files: list[str], folders: set[str]) -> None:
        if self.job is None or self.batch_id is None:
            return
        commit, waiting = self._partition_commit(), set[str]()
        if commit is not None and not commit.at_once:
            waiting = folders
            if commit.by_watermark:
                # What has no time is an error before its rows are seen.
                for folder in folders:
                    commit.time_ms(folder)
        before.after(self.batch_id, files, waiting).write(note_of(self.folder, self.job))

    def _clear(self, written: set[str]) -> None:
        """INSERT OVERWRITE replaces the table, or, if it is partitioned, the partitions that it
        writes: all files that would be read.
        """
        for folder in written if self.target.table.partitioned_by else {""}:
            for found in (self.folder / folder).files():
                if not any(map(is_hidden, found.name.split("/"))):
                    (self.folder / folder / found.name).remove()

    # --- partitions that are complete ----------------------------------------------------------

    def _partition_commit(self) -> PartitionCommit | None:
        """A table without partitions is complete when a batch job ends, and never in a stream."""
        if self.batch_id is not None and not self.target.table.partitioned_by:
            return None
        return PartitionCommit.of(self.target.options)

    def _commit(self, folders: set[str]) -> None:
        """At the end of a batch job, all; in a stream, those that wait for nothing."""
        commit = self._partition_commit()
        if commit is not None and (commit.at_once or self.batch_id is None):
            for folder in folders:
                (self.folder / folder / commit.success_file).write(b"")
