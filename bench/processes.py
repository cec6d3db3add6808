"""CPU seconds and memory of this process and its descendants, read from /proc.

Only the standard library is imported here. Without /proc there are no numbers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

PROC = Path("/proc")
_PSS = re.compile(r"^Pss: +(\d+) kB", re.MULTILINE)
JVM, COMPILERS, WORKERS, DRIVER = "JVM", "JVM compilers", "Python workers", "driver"
# HotSpot's compiler threads, with names as truncated by Linux. Their time is part of the JVM's.
_COMPILER_THREADS = ("C1 CompilerThre", "C2 CompilerThre")


def cpu_seconds() -> dict[str, float]:
    """CPU seconds so far: of the JVM, of its compiler threads, of Python workers, of this process.

    Workers that have ended count through the parent that waited for them.
    """
    ticks: dict[str, int] = {}
    for pid, part in _family():
        own, of_children = _ticks(PROC / str(pid))
        ticks[part] = ticks.get(part, 0) + own + (of_children if part == WORKERS else 0)
        if part == JVM:
            ticks[COMPILERS] = ticks.get(COMPILERS, 0) + sum(_compiler_ticks(pid))
    per_second = os.sysconf("SC_CLK_TCK")
    return {part: count / per_second for part, count in ticks.items()}


def used_since(before: Mapping[str, float]) -> dict[str, float]:
    """CPU seconds since `before` was read."""
    now = cpu_seconds().items()
    return {part: round(seconds - before.get(part, 0.0), 2) for part, seconds in now}


def whole(used: Mapping[str, float]) -> float:
    """CPU seconds of all processes together."""
    return sum(seconds for part, seconds in used.items() if part != COMPILERS)


def resident_mb() -> dict[str, float]:
    """Megabytes in memory: of the JVM, of the Python workers, of this process."""
    pages: dict[str, int] = {}
    for pid, part in _family():
        resident = int(_read(PROC / str(pid) / "statm", "0 0").split()[1])
        pages[part] = pages.get(part, 0) + resident
    page = os.sysconf("SC_PAGE_SIZE")
    return {part: round(count * page / 1e6, 1) for part, count in pages.items()}


def together_mb() -> dict[str, float]:
    """The same, with memory that processes share counted once: each has its share of it."""
    found: dict[str, float] = {}
    for pid, part in _family():
        share = _PSS.search(_read(PROC / str(pid) / "smaps_rollup"))
        found[part] = found.get(part, 0.0) + (int(share[1]) * 1024 / 1e6 if share else 0.0)
    return {part: round(megabytes, 1) for part, megabytes in found.items()}


def _family() -> Iterator[tuple[int, str]]:
    """This process and its descendants, each with its role."""
    if not PROC.is_dir():
        return
    children: dict[int, list[int]] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit() and (fields := _stat(entry)):
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    pending = [(os.getpid(), DRIVER)]
    while pending:
        pid, part = pending.pop()
        yield pid, part
        below = WORKERS if part in (JVM, WORKERS) else DRIVER
        for child in children.get(pid, ()):
            java = _read(PROC / str(child) / "comm").strip() == "java"
            pending.append((child, JVM if java else below))


def _ticks(process: Path) -> tuple[int, int]:
    """Clock ticks of a process or thread, and of its children that have ended."""
    fields = _stat(process)
    if not fields:
        return 0, 0
    user, system, of_children, system_of_children = map(int, fields[11:15])
    return user + system, of_children + system_of_children


def _compiler_ticks(pid: int) -> Iterator[int]:
    for thread in (PROC / str(pid) / "task").glob("*"):
        if _read(thread / "comm").strip() in _COMPILER_THREADS:
            yield _ticks(thread)[0]


def _stat(process: Path) -> list[str]:
    """The fields of a process from its state on; none if it has ended."""
    # The name before them is in parentheses and may contain anything.
    return _read(process / "stat").rpartition(")")[2].split()


def _read(file: Path, gone: str = "") -> str:
    try:
        return file.read_text(errors="replace")
    except OSError:
        return gone
