"""The table as it was when a job began, in files that can be read again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from tidemark.storage import Location

if TYPE_CHECKING:
    import polars as pl

# About so many bytes are in a file, which a worker reads.
_FILE_BYTES: Final = 64 << 20


def write(frames: Iterator[pl.DataFrame], folder: Location) -> None:
    import polars as pl
    import pyarrow as pa
    from pyarrow import ipc

    folder.remove_all()
    folder.make()
    compressed = ipc.IpcWriteOptions(compression="zstd")
    number, waiting, size = 0, list[pl.DataFrame](), 0

    def write() -> None:
        nonlocal number, waiting, size
        table = pl.concat(waiting).to_arrow(compat_level=pl.CompatLevel.oldest())
        assert isinstance(table, pa.Table)
        with (
            (folder / f"{number:05}.arrow").output() as file,
            ipc.new_stream(file, table.schema, options=compressed) as writer,
        ):
            writer.write_table(table)
        number, waiting, size = number + 1, [], 0

    for frame in frames:
        waiting.append(frame)
        size += int(frame.estimated_size())
        if size >= _FILE_BYTES:
            write()
    if waiting:
        write()


def files(folder: Location) -> Sequence[Location]:
    return [folder / found.name for found in sorted(folder.files())]


def read(file: Location) -> Iterator[pl.DataFrame]:
    import polars as pl
    from pyarrow import ipc

    with file.input() as source, ipc.open_stream(source) as batches:
        for batch in batches:
            frame = pl.from_arrow(batch)
            assert isinstance(frame, pl.DataFrame)
            yield frame
