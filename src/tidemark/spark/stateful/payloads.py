"""The rows inside a packed row: in it as an Arrow stream, or beside it in a file that it names.

Spark copies what passes through its shuffle a dozen times, so rows are compressed for the way.
Where all workers are on one machine they need not go that way: who packs them leaves them in a
file, and who opens them maps it into memory, so that nothing is copied or compressed.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import uuid
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pyarrow as pa

# Less is not worth the start of a compressor for each column, nor a file.
_LARGE = 1 << 16
# An Arrow stream begins with four bytes of ones.
_IN_FILE = b"file:"


def encode(frame: pl.DataFrame, *, compressed: bool = False) -> bytes:
    """`compressed` is for what will be moved or kept: by itself Spark copies all bytes from place
    to place several times, and compresses and packs them twice where it keeps them."""
    large = compressed and frame.estimated_size() > _LARGE
    buffer = io.BytesIO()
    frame.write_ipc_stream(buffer, compression="zstd" if large else "uncompressed")
    return buffer.getvalue()


def decode(payload: bytes) -> pl.DataFrame:
    return pl.read_ipc_stream(io.BytesIO(payload))


def mapped(path: Path) -> pl.DataFrame:
    """The rows of an Arrow file, which may be removed then: what is not touched is not read."""
    with pa.memory_map(os.fspath(path)) as file:
        frame = pl.from_arrow(pa.ipc.open_file(file).read_all())
    assert isinstance(frame, pl.DataFrame)
    return frame


@dataclass(frozen=True, slots=True)
class Payloads:
    """How the workers of a query hand rows to each other: in files of `folder`, which must be
    the same for all of them, or inside packed rows if there is none.

    Spark may read a micro-batch's shuffle again for as long as the batch lasts, and in a batch
    query for as long as there are frames of it. So each micro-batch removes the files of those
    before it, and whoever has made the folder removes what is left.
    """

    folder: str | None = None
    more_than: int = _LARGE  # bytes of rows that are worth a file

    def wrapped(self, frame: pl.DataFrame, *, compressed: bool = False) -> bytes:
        """What `unwrapped` gives the rows back for; compressed if they go inside the row."""
        if self.folder is None or frame.estimated_size() <= self.more_than:
            return encode(frame, compressed=compressed)
        folder = self._of_batch(Path(self.folder))
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / f"{uuid.uuid4().hex}.arrow"
        frame.write_ipc(path, compression="uncompressed")
        return _IN_FILE + os.fsencode(path)

    def forget_earlier_batches(self) -> None:
        """A micro-batch begins when Spark needs nothing of those before it any more."""
        if self.folder is None:
            return
        current = self._of_batch(Path(self.folder))
        if current.parent.is_dir():
            for other in current.parent.iterdir():
                if int(other.name) < int(current.name):
                    # Other tasks of the micro-batch remove it too.
                    shutil.rmtree(other, ignore_errors=True)

    @staticmethod
    def _of_batch(folder: Path) -> Path:
        """A folder for each micro-batch: several queries may run the same frame."""
        from pyspark import TaskContext

        context = TaskContext.get()
        query = context and context.getLocalProperty("sql.streaming.queryId")
        batch = context and context.getLocalProperty("streaming.sql.batchId")
        return folder / (query or "batch") / (batch or "0")


IN_ROWS = Payloads()


def unwrapped(payload: bytes, *, last: bool = False) -> pl.DataFrame:
    """The rows of a payload. The `last` who asks for them takes them away."""
    if not payload.startswith(_IN_FILE):
        return decode(payload)
    path = Path(os.fsdecode(payload.removeprefix(_IN_FILE)))
    frame = mapped(path)
    if last:
        # Not every system removes a file that is mapped; then its micro-batch does.
        with contextlib.suppress(OSError):
            path.unlink()
    return frame
