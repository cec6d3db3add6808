"""Where the CPU seconds of Spark's Python workers go, step by step: what they read, decode,
compute, pack, and so on.

The functions that do these steps are wrapped inside the workers (`steps_daemon.py`), each of which
adds up the seconds and leaves them in a file. A step's seconds are without those of the steps that
it calls.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import os
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

# Names the folder in which workers leave their seconds.
FOLDER: Final = "TIDEMARK_BENCH_STEPS"
_NEW, _AFTER_S = ".new", 0.5
LOAD, REST = "load modules", "Spark's worker"
# What does each step: a module, and a name in it.
STEPS: Final = (
    ("read bytes", "tidemark.connectors.filesystem.files_columns", "blocks"),
    ("decode", "tidemark.connectors.filesystem.files_columns", "Decoding.__call__"),
    ("decode", "tidemark.connectors.filesystem.parquet_columns", "ParquetColumns.__call__"),
    ("compute", "tidemark.columns.program", "Program.over"),
    ("compute", "tidemark.columns.program", "Program.rows_where"),
    ("to Arrow", "tidemark.runtime.times", "in_schema"),
    ("hash", "tidemark.spark.stateful.packing", "Repack._hashed"),
    ("pack", "tidemark.spark.stateful.packing", "Pack.__call__"),
    ("combine", "tidemark.runtime.combining", "Combine.reduced"),
    ("kernel", "tidemark.runtime.batch", "Batch.steps"),
    ("encode", "tidemark.spark.stateful.at_once", "_said"),
    ("open packed", "tidemark.spark.stateful.packing", "Unpack.__call__"),
    ("sink", "tidemark.spark.stateful.packed_rows", "_Taking.__call__"),
)


@dataclass
class Laps:
    """CPU seconds of this process by step, each without those inside it."""

    spent: dict[str, float] = field(default_factory=dict)
    clock: Callable[[], float] = time.process_time
    # Called after each step that is not inside others, and at the end: Spark may kill a worker that
    # is no longer needed.
    save: Callable[[], None] = lambda: None
    _open: list[str] = field(default_factory=list)
    _since: float = 0.0

    def _lap(self) -> None:
        now = self.clock()
        if self._open:
            step = self._open[-1]
            self.spent[step] = self.spent.get(step, 0.0) + now - self._since
        self._since = now

    @contextmanager
    def of(self, step: str) -> Iterator[None]:
        self._lap()
        self._open.append(step)
        try:
            yield
        finally:
            self._lap()
            self._open.pop()
            if len(self._open) <= 1:
                self.save()

    def wrapped(self, step: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, its seconds being counted; of a generator, those of each item."""
        if not inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def called(*args: Any, **kwargs: Any) -> Any:
                with self.of(step):
                    return function(*args, **kwargs)

            return called

        @functools.wraps(function)
        def generated(*args: Any, **kwargs: Any) -> Iterator[Any]:
            items = function(*args, **kwargs)
            while True:
                with self.of(step):
                    try:
                        item = next(items)
                    except StopIteration:
                        return
                yield item

        return generated

    def install(self) -> None:
        """Wrap the functions of all steps."""
        for step, module, path in STEPS:
            owner, name = owner_of(module, path)
            setattr(owner, name, self.wrapped(step, getattr(owner, name)))


def owner_of(module: str, path: str) -> tuple[Any, str]:
    """What has the function, and under which name."""
    *outer, name = path.split(".")
    owner: Any = importlib.import_module(module)
    for part in outer:
        owner = getattr(owner, part)
    return owner, name


def worker_main(main: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    """Spark's main function of a worker, which runs one task, with its seconds left in a file."""
    laps = Laps()
    installed = False

    def measured(incoming: Any, outgoing: Any) -> None:
        nonlocal installed
        file = Path(os.environ[FOLDER]) / uuid.uuid4().hex
        # Without what the process did before, and between tasks.
        laps.spent.clear()
        laps.save = functools.partial(_write, file, laps.spent)
        with laps.of(LOAD):
            if not installed:
                # Only after the fork: some of these modules start threads.
                laps.install()
                installed = True
        with laps.of(REST):
            main(incoming, outgoing)

    return measured


def _write(file: Path, spent: dict[str, float]) -> None:
    """A reader sees all of it."""
    new = file.with_suffix(_NEW)
    new.write_text(json.dumps(spent), encoding="utf-8")
    new.rename(file)


def collected(folder: Path) -> dict[str, float]:
    """The sums of what workers have left, which is removed."""
    # Spark has the rows of a task a moment before its worker is done.
    time.sleep(_AFTER_S)
    sums: dict[str, float] = {}
    for file in sorted(f for f in folder.iterdir() if f.suffix != _NEW):
        for step, seconds in json.loads(file.read_text(encoding="utf-8")).items():
            sums[step] = sums.get(step, 0.0) + seconds
        file.unlink()
    return {step: round(seconds, 2) for step, seconds in sums.items()}
