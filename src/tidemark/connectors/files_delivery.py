"""Files of a batch put into place: staged beside the data under a hidden name, then moved.

A file is seen whole or not at all. A micro-batch that comes again after a restart replaces what
its first attempt left: the files of the last batch of each job are listed in a hidden note.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tidemark.connectors.base import Target

# Leaves files in a folder for this alone, and says which, and to which folder each belongs.
Stage = Callable[[], Iterable[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class Delivery:
    target: Target
    folder: str
    job: str | None  # None: no batch comes again
    batch_id: int | None

    @property
    def name(self) -> str:
        """Names this write: the same for a micro-batch that comes again, else never twice.

        The names of files grow as they are written, because a reader takes them in that order.
        """
        if self.job is None or self.batch_id is None:
            return f"{time.time_ns():020d}-{uuid.uuid4().hex[:8]}"
        return f"{self.job}-{self.batch_id:010d}"

    def run(self, staging: str, stage: Stage) -> None:
        os.makedirs(self.folder, exist_ok=True)
        self._forget_first_attempt()
        try:
            moves = self._named(stage())
            self._note([target for _, target in moves])
            if self.target.overwrite:
                self._clear(moves)
            for origin, target in moves:
                os.makedirs(os.path.dirname(target), exist_ok=True)
                os.replace(origin, target)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
        self._mark_partitions({os.path.dirname(target) for _, target in moves})

    def _named(self, staged: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Where each file is, and where it is to be."""
        name = self.name
        return [
            (origin, os.path.join(folder, f"part-{name}-{number:05d}"))
            for number, (origin, folder) in enumerate(staged)
        ]

    # --- batches that come again, and overwriting --------------------------------------------

    def _note_file(self) -> str:
        return os.path.join(self.folder, f".tidemark-{self.job}")

    def _forget_first_attempt(self) -> None:
        if self.job is None or self.batch_id is None:
            return
        try:
            with open(self._note_file(), encoding="utf-8") as note:
                last = json.load(note)
        except FileNotFoundError:
            return
        if last["batch"] == self.batch_id:
            for name in last["files"]:
                with contextlib.suppress(FileNotFoundError):
                    os.remove(os.path.join(self.folder, name))

    def _note(self, files: list[str]) -> None:
        if self.job is None or self.batch_id is None:
            return
        names = [os.path.relpath(file, self.folder) for file in files]
        fresh = self._note_file() + ".new"
        with open(fresh, "w", encoding="utf-8") as note:
            json.dump({"batch": self.batch_id, "files": names}, note)
        os.replace(fresh, self._note_file())

    def _clear(self, moves: list[tuple[str, str]]) -> None:
        """INSERT OVERWRITE replaces the table, or of a partitioned one the partitions it writes."""
        if self.target.table.partitioned_by:
            folders = {os.path.dirname(target) for _, target in moves}
        else:
            folders = {self.folder}
        for folder in folders:
            if os.path.isdir(folder):
                for entry in os.scandir(folder):
                    if entry.is_file() and not entry.name.startswith("."):
                        os.remove(entry.path)

    def _mark_partitions(self, folders: set[str]) -> None:
        options = self.target.options
        if "success-file" in (options["sink.partition-commit.policy.kind"] or ()):
            name = options["sink.partition-commit.success-file.name"]
            for folder in folders:
                with open(os.path.join(folder, name), "w", encoding="utf-8"):
                    pass
