"""Checkpoints in another place than the one they were made in, after a copy or a move.

Spark notes some files of a checkpoint by their full paths: those that describe the schema of state,
and those of the job itself that sources have read. They are made to point to where they are now.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tidemark.checkpoints import contract as contracts

_SCHEMA = re.compile(rb'"file:([^"]*/)' + contracts.SPARK.encode() + rb"/state/\d+/_stateSchema/")


def relocate(job: Path) -> None:
    """Let the job in this folder go on here, wherever its checkpoint was before."""
    for log in _metadata(job):
        found = _SCHEMA.search(log.read_bytes())
        if found is not None:
            move_paths(job, Path(found[1].decode()))
            return


def move_paths(job: Path, before: Path) -> None:
    """Replace the paths of files that were in the folder `before` and are in `job` now."""
    old, new = f"{before.absolute().as_posix()}/".encode(), f"{job.absolute().as_posix()}/".encode()
    if old == new:
        return
    for log in [*_metadata(job), *_files(job / contracts.SPARK / "sources")]:
        content = log.read_bytes()
        moved = content.replace(old, new)
        if moved != content:
            log.write_bytes(moved)
            log.with_name(f".{log.name}.crc").unlink(missing_ok=True)


def _metadata(job: Path) -> Iterator[Path]:
    """What Spark notes of its stateful operators."""
    for folder in sorted((job / contracts.SPARK / "state").glob("*/_metadata")):
        yield from _files(folder)


def _files(folder: Path) -> Iterator[Path]:
    yield from (f for f in sorted(folder.rglob("*")) if f.is_file() and f.suffix != ".crc")
