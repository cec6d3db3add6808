"""Java, the workers' Python, memory and disk."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from tidemark.cli.doctor.findings import Finding

JAVA = "Java"
WORKERS = "Workers"
MACHINE = "Machine"

OLDEST_JAVA = 17
_INSTALL_JAVA = (
    "install a Java runtime, version 17 or newer (apt-get install openjdk-17-jre-headless, "
    "brew install openjdk@17), or set JAVA_HOME"
)
_GIB = 1024**3
_LEAST_MEMORY = 2 * _GIB
_LEAST_DISK = 1 * _GIB


def check_java(environment: Mapping[str, str] = os.environ) -> Iterator[Finding]:
    """The Java that Spark will start: the one of JAVA_HOME, or else the first on PATH."""
    home = environment.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None:
        yield Finding(JAVA, "java", "missing", "not on PATH, JAVA_HOME is not set", _INSTALL_JAVA)
        return
    where = f"{java} (JAVA_HOME)" if home else os.path.realpath(java)
    try:
        text = subprocess.run([java, "-version"], capture_output=True, text=True).stderr
    except OSError as error:
        todo = "fix JAVA_HOME, or unset it to use the Java on PATH" if home else _INSTALL_JAVA
        yield Finding(JAVA, "java", "missing", f"{where}: {error.strerror}", todo)
        return
    yield _judge_java(text, where)


def _judge_java(text: str, where: str) -> Finding:
    found = re.search(r'version "((?:1\.)?(\d+)[^"]*)"', text)
    if found is None:
        return Finding(JAVA, "java", "warning", f"{where}: cannot determine its version")
    if int(found[2]) < OLDEST_JAVA:
        detail = f"{found[1]}, {where}; Spark needs {OLDEST_JAVA} or newer"
        return Finding(JAVA, "java", "missing", detail, _INSTALL_JAVA)
    return Finding(JAVA, "java", "ok", f"{found[1]}, {where}")


def check_worker_python(environment: Mapping[str, str] = os.environ) -> Iterator[Finding]:
    """Whether Spark's workers run the same Python as this process."""
    chosen = environment.get("PYSPARK_PYTHON")
    if not chosen:
        detail = "not set; Tidemark uses this interpreter"
        yield Finding(WORKERS, "PYSPARK_PYTHON", "ok", detail)
        return
    program = "import sys; print(sys.prefix, *sys.version_info[:2])"
    try:
        done = subprocess.run([chosen, "-c", program], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        todo = "unset PYSPARK_PYTHON, or point it to a working Python"
        yield Finding(WORKERS, "PYSPARK_PYTHON", "missing", f"{chosen}: {error}", todo)
        return
    yield _judge_worker(chosen, *done.stdout.rsplit(maxsplit=2))


def _judge_worker(chosen: str, prefix: str, major: str, minor: str) -> Finding:
    todo = f"unset PYSPARK_PYTHON, or set it to {sys.executable}"
    if (int(major), int(minor)) != sys.version_info[:2]:
        here = ".".join(map(str, sys.version_info[:2]))
        detail = f"{chosen} is Python {major}.{minor}, but this is {here}: Spark cannot mix them"
        return Finding(WORKERS, "PYSPARK_PYTHON", "missing", detail, todo)
    if Path(prefix) != Path(sys.prefix):
        detail = f"{chosen} has its own packages ({prefix})"
        return Finding(WORKERS, "PYSPARK_PYTHON", "warning", detail, todo)
    return Finding(WORKERS, "PYSPARK_PYTHON", "ok", chosen)


def check_machine() -> Iterator[Finding]:
    yield Finding(MACHINE, "processors", "ok", str(os.cpu_count()))
    yield _check_memory()
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    todo = "free some space, or set TMPDIR to another disk"
    yield _enough("disk", free, _LEAST_DISK, f"free in {folder}", todo)


def _check_memory() -> Finding:
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):  # not available on every system
        return Finding(MACHINE, "memory", "ok", "unknown")
    free = max(free, _available_on_linux())
    todo = "close other programs; a local Spark needs 1 GiB or more"
    return _enough("memory", free, _LEAST_MEMORY, f"free of {total / _GIB:.1f} GiB", todo)


def _available_on_linux() -> int:
    """Free memory and what the page cache would release."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return 0
    found = re.search(r"MemAvailable:\s+(\d+) kB", text)
    return int(found[1]) * 1024 if found else 0


def _enough(name: str, have: int, least: int, of: str, todo: str) -> Finding:
    detail = f"{have / _GIB:.1f} GiB {of}"
    if have < least:
        return Finding(MACHINE, name, "warning", detail, todo)
    return Finding(MACHINE, name, "ok", detail)
