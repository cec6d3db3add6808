"""Jars from Maven Central, by way of the Ivy that Spark brings, and kept in `.cache`."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pyspark

from bench.contest import flink_python

CACHE = Path(__file__).resolve().parent.parent / ".cache" / "jars"


class NoJars(Exception):
    """Why jars cannot be had."""


def fetched(wanted: Path) -> list[Path]:
    """Those that an Ivy file asks for."""
    CACHE.mkdir(parents=True, exist_ok=True)
    # Two parts of the tests may ask for the same jars at the same time.
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _kept_or_fetched(wanted)


def _kept_or_fetched(wanted: Path) -> list[Path]:
    folder = CACHE / wanted.stem
    kept = folder / wanted.name
    if not kept.exists() or kept.read_bytes() != wanted.read_bytes():
        # What the first attempt has fetched, the second one has.
        problem = _fetch(wanted, folder) and _fetch(wanted, folder)
        if problem:
            raise NoJars(problem)
        # Written last: with it the folder is complete.
        shutil.copy(wanted, kept)
    return sorted(folder.glob("*.jar"))


def of_spark(pattern: str) -> list[Path]:
    """Those that PySpark brings."""
    return sorted((Path(pyspark.__file__).parent / "jars").glob(pattern))


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


def _fetch(wanted: Path, folder: Path) -> str | None:
    """What is in the way, if anything."""
    [ivy] = of_spark("ivy-*.jar")
    shutil.rmtree(folder, ignore_errors=True)
    home = os.environ.get("JAVA_HOME")
    java = [f"{home}/bin/java" if home else "java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    pattern = f"{folder}/[artifact]-[revision].[ext]"
    what = ["-ivy", str(wanted), "-confs", "runtime", "-types", "jar", "bundle"]
    command = [*java, "-jar", str(ivy), "-cache", str(CACHE / "ivy"), *what, "-retrieve", pattern]
    done = subprocess.run(command, capture_output=True, text=True)
    if not done.returncode:
        return None
    said = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    return next((line for line in said if "access error" in line), said[-1])
