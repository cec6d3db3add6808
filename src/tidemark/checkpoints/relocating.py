"""Checkpoints that have been copied or moved.

Spark records some files of a checkpoint by full path: those that describe the schema of state, and
those of the job itself that sources have read. These paths are updated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from urllib.parse import quote

from tidemark.checkpoints import contract as contracts
from tidemark.storage import Location

_SCHEMA = re.compile(r'"(\w+:[^"]*)/' + contracts.SPARK + r"/state/\d+/_stateSchema/")
# What Java leaves as it is in the path of a URI, beside what is not ASCII.
_PLAIN = "/,;:$&+=@_-!.~'()*"


def relocate(job: Location) -> None:
    """Let the job in this folder resume here, wherever its checkpoint was before."""
    for log in _metadata(job):
        found = _SCHEMA.search((log.read() or b"").decode())
        if found is not None:
            move_paths(job, Location.of(found[1]))
            return


def move_paths(job: Location, before: Location) -> None:
    """Replace the paths of files that were in the folder `before` and are in `job` now."""
    if before.uri == job.uri:
        return
    for log in _metadata(job):
        _rewrite(log, before, job, str)
    for log in _files(job / contracts.SPARK / "sources"):
        _rewrite(log, before, job, _encoded)


def _rewrite(log: Location, before: Location, now: Location, spelled: Callable[[str], str]) -> None:
    content = (log.read() or b"").decode()
    old, new = f"{spelled(before.uri)}/", f"{spelled(now.uri)}/"
    if before.is_local != now.is_local:
        old = f"file:(?://)?{re.escape(old)}" if before.is_local else re.escape(old)
        new = f"file://{new}" if now.is_local else new
        moved = re.sub(old, lambda _: new, content)
    else:
        moved = content.replace(old, new)
    if moved != content:
        log.write(moved.encode())
        (log.parent / f".{log.name}.crc").remove()


def _encoded(uri: str) -> str:
    """As Java encodes the path of a URI."""
    return "".join(quote(c, safe=_PLAIN) if c.isascii() else c for c in uri)


def _metadata(job: Location) -> Iterator[Location]:
    """Spark's metadata of its stateful operators."""
    state = job / contracts.SPARK / "state"
    for operator in state.names():
        yield from _files(state / operator / "_metadata")


def _files(folder: Location) -> Iterator[Location]:
    yield from (folder / f.name for f in folder.files() if not f.name.endswith(".crc"))
