"""Jars of Java code that Flink needs for a query, compiled here."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.contest import flink_python
from servers.jars.fetching import CACHE


def compiled(sources: Path) -> Path:
    """A jar of the Java files in a folder, which use Flink's classes."""
    jar = CACHE / f"{sources.name}.jar"
    files = sorted(sources.glob("*.java"))
    if jar.exists() and jar.stat().st_mtime > max(file.stat().st_mtime for file in files):
        return jar
    flink = Path(flink_python()).parent.parent.glob("lib/python*/site-packages/pyflink/lib/*.jar")
    jar.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as classes:
        path = os.pathsep.join(map(str, flink))
        subprocess.run(["javac", "-cp", path, "-d", classes, *map(str, files)], check=True)
        shutil.make_archive(str(jar), "zip", classes)
    return jar.with_suffix(".jar.zip").rename(jar)
