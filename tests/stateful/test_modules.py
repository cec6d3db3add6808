"""What workers have loaded, and Python's garbage collector."""

from __future__ import annotations

import subprocess
import sys

import pyarrow as pa
import pytest

from tidemark.spark.stateful import packing
from tidemark.spark.stateful.packing import Pack, Unpack

_FROZEN = """
import gc
from tidemark.spark.stateful.modules import freeze_loaded_objects
assert gc.get_freeze_count() == 0
freeze_loaded_objects()
spared = gc.get_freeze_count()
later = [[] for _ in range(1000)]
freeze_loaded_objects()
print(spared > 0, gc.get_freeze_count() == spared)
"""


def test_what_is_loaded_is_left_out_of_collections_and_what_comes_later_is_not() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _FROZEN], capture_output=True, text=True, check=True
    )

    assert ran.stdout.split() == ["True", "True"]


@pytest.mark.parametrize("task", [Pack(0, (0,), pa.schema([]), None), Unpack(pa.schema([]))])
def test_a_worker_leaves_it_out_when_it_has_done_its_first_task(
    task: Pack | Unpack, monkeypatch: pytest.MonkeyPatch
) -> None:
    spared: list[bool] = []
    monkeypatch.setattr(packing, "freeze_loaded_objects", lambda: spared.append(True))

    assert list(task(iter([]))) == []

    assert spared == [True]
