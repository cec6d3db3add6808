"""Jars from Maven Central, by way of the Ivy that Spark brings, and kept in `.cache`."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import pyspark

from servers.missing import Missing

HERE = Path(__file__).resolve().parent
CACHE = HERE.parent.parent / ".cache" / "jars"


def jars_of(name: str) -> list[Path]:
    """Those that `NAME.xml` in this folder asks for. Raises Missing."""
    return fetched(HERE / f"{name}.xml")


def fetched(wanted: Path) -> list[Path]:
    """Those that an Ivy file asks for. Raises Missing."""
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
            raise Missing(f"the jars of {wanted.name} cannot be had: {problem}")
        # Written last: with it the folder is complete.
        shutil.copy(wanted, kept)
    return sorted(folder.glob("*.jar"))


def of_spark(pattern: str) -> list[Path]:
    """Those that PySpark brings."""
    return sorted((Path(pyspark.__file__).parent / "jars").glob(pattern))


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
