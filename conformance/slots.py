"""Fixes the order in which several Flink sources deliver their records.

A Java function holds back the n-th record of a source until its slot of a common schedule.
"""

from __future__ import annotations

import os
import subprocess
import zipfile
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

SLOT_MS = 70
JAVA = Path(__file__).resolve().parent / "java" / "Slot.java"


class Slots:
    CREATE_FUNCTION = "CREATE TEMPORARY SYSTEM FUNCTION TM_SLOT AS 'flinkcases.Slot'"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def settings(self) -> dict[str, str]:
        """What a run with slots needs: the function, and sources that do not buffer records."""
        return {
            "pipeline.jars": self._jar.as_uri(),
            "execution.buffer-timeout.interval": "0 ms",
            "execution.buffer-timeout.enabled": "true",
        }

    def gate(self, run: str, table: str, order: Sequence[str]) -> Callable[[str], str]:
        """Wraps an expression (or nothing) in the function that waits for the table's slots."""
        slots = ",".join(str(slot) for slot, name in enumerate(order) if name == table)
        arguments = f"'{run}', '{slots}', {SLOT_MS}"
        return lambda text: f"TM_SLOT({f'{text}, ' if text else ''}{arguments})"

    @cached_property
    def _jar(self) -> Path:
        import pyflink

        assert pyflink.__file__
        libraries = (Path(pyflink.__file__).parent / "lib").glob("*.jar")
        classes = self._folder / "classes"
        classes.mkdir()
        class_path = os.pathsep.join(str(path) for path in libraries)
        compile_ = ["javac", "-nowarn", "-cp", class_path, "-d", str(classes), str(JAVA)]
        subprocess.run(compile_, check=True)
        jar = self._folder / "slot.jar"
        with zipfile.ZipFile(jar, "w") as archive:
            for path in classes.rglob("*.class"):
                archive.write(path, path.relative_to(classes).as_posix())
        return jar
