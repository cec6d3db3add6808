"""Which changes a micro-batch reads: the transactions whose commits are in a range of the log.

Spark keeps positions of the log in its checkpoint. The database keeps the log from where the slot
is, which advances only when Spark has committed a micro-batch.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Final

from tidemark.connectors.base import ColumnsRequest, ReadRequest
from tidemark.connectors.cdc import snapshot_files
from tidemark.connectors.jdbc.postgres.connections import connected
from tidemark.connectors.planned_stream import Offset, Planning
from tidemark.connectors.postgres_cdc import options as o
from tidemark.connectors.postgres_cdc import snapshots
from tidemark.connectors.postgres_cdc.captured import Captured, Known
from tidemark.connectors.postgres_cdc.held_slot import HeldSlot
from tidemark.connectors.postgres_cdc.logged import check_changes
from tidemark.connectors.postgres_cdc.slots import SlotState, check_from, check_until, no_slot
from tidemark.connectors.postgres_cdc.snapshots import VisibleTransactions
from tidemark.errors import DataError, TidemarkError
from tidemark.storage import Location

_START: Final = "start.json"
_IDLE: Final = "idle.json"
_SNAPSHOT: Final = "snapshot"
# How much of the log a micro-batch reads at most, but for its last transaction.
_WINDOW: Final = 64 << 20
# Of this process, in which all jobs of a run are planned.
_RUN: Final = uuid.uuid4().hex[:12]
# How often the database is asked whether there are changes: Spark asks all the time.
_PAUSE_S: Final = 0.1


@dataclass(frozen=True)
class CdcReading:
    """What a stream reads, and where it keeps its notes."""

    captured: Captured
    startup: str
    heartbeat_ms: int
    folder: Location
    run: str  # what readers of one run have in common
    pause_s: float = _PAUSE_S


def look_at(request: ReadRequest | ColumnsRequest) -> Captured:
    """The table that is asked for. What is wrong with it is an error at once."""
    captured = Captured.of(request)
    looking = connected(captured.database, f"looking at {captured}")
    with looking as connection, connection.cursor() as cursor:
        known = Known.of(cursor, captured)
    known.check(captured)
    check_changes(known, captured)
    return captured


def planning(request: ReadRequest) -> Callable[[], Planning]:
    captured = look_at(request)
    assert request.folder is not None
    options = request.options
    reading = CdcReading(captured, options[o.STARTUP], options[o.HEARTBEAT], request.folder, _RUN)
    return lambda: SlotPlanning(reading)


@dataclass(frozen=True, slots=True)
class _Start:
    """How a job began."""

    position: int
    slot: str
    oid: int  # the table; one that is made anew has another
    visible: str | None  # which transactions the snapshot has, if there is one

    def written(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def noted(cls, folder: Location) -> _Start | None:
        written = (folder / _START).read()
        return None if written is None else cls(**json.loads(written))


class SlotPlanning:
    """Plans micro-batches. An offset is a position of the log, and whether the snapshot is read."""

    def __init__(self, reading: CdcReading) -> None:
        self._reading = reading
        self._until: int | None = None
        self._beat = time.monotonic()
        self._idle: tuple[int, int] | None = None
        self._looked = 0.0
        self._seen = 0  # there are no changes from the last offset to this position
        self._cleaned = False

    # --- where a job begins ---

    def initial(self) -> dict[str, Any]:
        """Where the job started; it stays the same when it resumes."""
        folder = self._reading.folder
        if _Start.noted(folder) is None:
            (folder / _START).write(self._begun().written())
        return {"position": self._start.position, "snapshot": self._start.visible is None}

    @cached_property
    def _start(self) -> _Start:
        start = _Start.noted(self._reading.folder)
        if start is None:
            raise DataError(
                f"the checkpoint lacks its notes about {self._reading.captured}",
                notes={"file": str(self._reading.folder / _START)},
                hint="start the job without its checkpoint",
            )
        return start

    @cached_property
    def _slot(self) -> HeldSlot:
        """The slot that the job has, or will have."""
        captured, run = self._reading.captured, self._reading.run
        start = _Start.noted(self._reading.folder)
        if start is None:
            return HeldSlot.free(captured, run)
        return HeldSlot(replace(captured, slot=start.slot), run)

    def close(self) -> None:
        """Let go of the slot."""
        self._slot.close()

    def _begun(self) -> _Start:
        """Make what a job needs. If it crashes in between, this begins again."""
        captured, startup = self._reading.captured, self._reading.startup
        slot, oid = self._slot.name, self._slot.known().oid
        if startup == "committed-offset":
            if not self._slot.exists():
                raise no_slot(replace(captured, slot=slot))
            return _Start(self._slot.state().confirmed, slot, oid, None)
        position = self._slot.create()
        if startup == "latest-offset":
            return _Start(position, slot, oid, None)
        try:
            visible = snapshots.take(captured, self._reading.folder / _SNAPSHOT)
        except BaseException:
            with suppress(TidemarkError):
                self._slot.drop()  # without it the database need not keep its log
            raise
        return _Start(position, slot, oid, visible.written())

    # --- micro-batches ---

    def latest(self, start: Offset) -> dict[str, Any]:
        """Where the next micro-batch ends."""
        if not start["snapshot"]:
            return {**start, "snapshot": True}
        if self._until is None and time.monotonic() - self._looked < self._reading.pause_s:
            return dict(start)
        found = self._latest(start)
        while found == start and self._is_before_end():
            found = self._latest(start)
        if found == start:
            self._looked = time.monotonic()
        return found

    def _is_before_end(self) -> bool:
        """Whether a run that stops somewhere has not come there: it would stop where there is
        nothing new.
        """
        return self._until is not None and self._seen < self._until

    def _latest(self, start: Offset) -> dict[str, Any]:
        position, state = start["position"], self._slot.state()
        self._check(start, state)
        done = max(self._from(start), self._seen)
        end = min(state.flushed, done + _WINDOW)
        if self._until is not None:
            end = min(end, self._until)
        if end <= done:
            return dict(start)
        if self._slot.has_changes(end, self._start.oid):
            return {"position": end, "snapshot": True}
        self._seen = end
        self._advance_idle(position, state, end)
        return dict(start)

    def _check(self, start: Offset, state: SlotState) -> None:
        check_from(state, self._from(start), self._reading.captured)
        check_until(state, start["position"], self._reading.captured)

    def _from(self, start: Offset) -> int:
        """Where the changes after an offset begin: later, if it is known that there are none."""
        if self._idle is None:
            written = (self._reading.folder / _IDLE).read()
            self._idle = (0, 0) if written is None else tuple(json.loads(written))
        idle_from, idle_to = self._idle
        position = int(start["position"])
        return max(position, idle_to) if idle_from == position else position

    def _advance_idle(self, position: int, state: SlotState, end: int) -> None:
        """Let the database clean up its log although nothing happens in this table."""
        due = (time.monotonic() - self._beat) * 1000 >= self._reading.heartbeat_ms
        if not due and end - state.confirmed < _WINDOW:
            return
        self._slot.check_same_table(self._start.oid)
        self._idle = position, end
        (self._reading.folder / _IDLE).write(json.dumps(self._idle).encode())
        self._advance(end)

    def _advance(self, to: int) -> None:
        self._slot.advance(to)
        self._beat = time.monotonic()

    def stop_here(self) -> None:
        """Read what there is now, and no more."""
        self._until = self._slot.flushed_all()

    def parts(self, start: Offset, end: Offset) -> list[tuple[Any, ...]]:
        """The files of the snapshot; or what one task reads of the log, which has one reader."""
        if not start["snapshot"]:
            folder = self._reading.folder / _SNAPSHOT
            return [(file.uri, 0, None, "") for file in snapshot_files.files(folder)]
        if start["position"] == end["position"]:
            return []
        begun = self._start
        about = {"oid": begun.oid, "slot": begun.slot, "visible": self._visible(start)}
        return [("", self._from(start), end["position"], json.dumps(about))]

    def _visible(self, start: Offset) -> str | None:
        """Which transactions the snapshot has, as long as some of them may come."""
        written = self._start.visible
        if written is None or VisibleTransactions.read(written).before <= start["position"]:
            return None
        return written

    def commit(self, end: Offset) -> None:
        """What comes before the offset is read: the database need not keep it."""
        if not self._cleaned and end["snapshot"]:
            (self._reading.folder / _SNAPSHOT).remove_all()
            self._cleaned = True
        if self._slot.state().confirmed < end["position"]:
            self._advance(end["position"])
