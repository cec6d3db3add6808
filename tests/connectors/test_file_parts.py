"""How tasks share a table's files."""

from __future__ import annotations

from pathlib import Path

from tidemark.connectors.base import Part
from tidemark.connectors.file_parts import in_tasks


def test_small_files_go_to_a_task_together_in_order(tmp_path: Path):
    def whole(name: str, size: int) -> Part:
        (tmp_path / name).write_bytes(bytes(size))
        return Part(str(tmp_path / name))

    a, b, c, d = (whole(name, size) for name, size in [("a", 4), ("b", 4), ("c", 4), ("d", 30)])
    first, second = (Part(d.file, start, start + 15) for start in (0, 15))
    packed = whole("e.gz", 2)

    assert [*in_tasks([a, b, c], 10)] == [(a, b, c)]
    assert [*in_tasks([a, b, c], 8)] == [(a, b), (c,)]
    assert [*in_tasks([a, first, second, b, c], 10)] == [(a, first), (second,), (b, c)]
    # What is in compressed files is several times as large.
    assert [*in_tasks([a, packed, b], 8)] == [(a,), (packed,), (b,)]
