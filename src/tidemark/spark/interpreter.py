"""The Python of Spark's workers: this one, quick to start, and slow to return memory."""

from __future__ import annotations

import atexit
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from tidemark.spark import forks, machine

# Spark puts zipped copies of PySpark and Py4J before the installed ones. They have no bytecode, so
# each new Python would compile them, for most of a second: when Spark starts workers, and when a
# stateful query starts.
# Whole columns are allocated and freed many times a second. The system clears memory that is
# returned to it, page by page, when it is used again: a sixth of the workers' time. So both
# allocators keep it: Polars' own for half a minute, that of the C library on Linux for good, up to
# an amount that leaves room for several workers per core.
# Workers are forked from a process that has loaded libraries, which must not have threads then.
# Those that Spark starts once per stream print each of their steps, which is of no use.
_SCRIPT = """\
#!/bin/sh
PYTHONPATH="${{PYTHONPATH#*/pyspark.zip:}}"
PYTHONPATH="${{PYTHONPATH#*/py4j-*-src.zip:}}"
kept=glibc.malloc.mmap_threshold={kept}:glibc.malloc.trim_threshold={kept}
: "${{_RJEM_MALLOC_CONF=thp:always,dirty_decay_ms:30000,muzzy_decay_ms:30000}}"
: "${{GLIBC_TUNABLES=glibc.malloc.hugetlb=1:$kept}}"
: "${{JE_ARROW_MALLOC_CONF=background_thread:false}}"
: "${{OPENBLAS_NUM_THREADS=1}}"
export PYTHONPATH _RJEM_MALLOC_CONF GLIBC_TUNABLES JE_ARROW_MALLOC_CONF OPENBLAS_NUM_THREADS
case "$*" in
*pyspark.sql.streaming.*worker*)
  [ -n "$TIDEMARK_SPARK_LOG" ] || exec >/dev/null;;
esac
case "$1 $2" in
{forked})
  [ ! -S {socket} ] || exec {python} -I -S {ask} {socket} {python} "$@";;
esac
exec {python} "$@"
"""
# Of the workers, and of what Spark asks when it plans.
_PYTHONS = ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")
_LEAST_KEPT, _MOST_KEPT = 64 << 20, 1 << 30


def use_this_python() -> None:
    """Without other settings, Spark's workers run `python3` from PATH."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    os.environ.setdefault("POLARS_MAX_THREADS", "1")


@contextmanager
def quick_to_start() -> Iterator[None]:
    """While entered, a Spark that starts on this machine runs workers that import the installed
    PySpark. User settings are kept.
    """
    if not _chosen_by_us():
        yield
        return
    ours = [name for name in _PYTHONS if os.environ.get(name) == sys.executable]
    os.environ.update(dict.fromkeys(ours, _script()))
    _start_forks()
    try:
        yield
    finally:
        os.environ.update(dict.fromkeys(ours, sys.executable))


def worker_settings() -> dict[str, str]:
    """Spark settings for forking workers on this machine with libraries loaded; only on Linux is
    forking them safe.
    """
    if not _chosen_by_us() or sys.platform != "linux":
        return {}
    return {"spark.python.daemon.module": "tidemark.spark.worker_daemon"}


def _chosen_by_us() -> bool:
    """Whether the user has not chosen another Python or another Spark."""
    ours = os.environ.get("PYSPARK_PYTHON") == sys.executable and "SPARK_HOME" not in os.environ
    return ours and os.name == "posix"


@cache
def _script() -> str:
    folder = Path(tempfile.mkdtemp(prefix="tidemark-python-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    script = folder / "python"
    text = _SCRIPT.format(
        python=shlex.quote(sys.executable),
        kept=bytes_kept(),
        ask=shlex.quote(str(Path(__file__).with_name("ask_for_fork.py"))),
        forked="|".join(f'"-m {module}"' for module in forks.MODULES),
        socket=shlex.quote(str(folder / "forks")),
    )
    script.write_text(text, encoding="utf-8")
    script.chmod(0o700)
    # On some systems, files in temporary folders cannot be executed.
    return str(script) if os.access(script, os.X_OK) else sys.executable


@cache
def _start_forks() -> None:
    script = _script()
    if script != sys.executable:
        forks.start(script, str(Path(script).with_name("forks")))


def bytes_kept() -> int:
    """How much free memory a worker keeps: a part of a core's share that leaves room for others."""
    of_a_core = machine.memory() // machine.cores()
    return min(max(of_a_core // 16, _LEAST_KEPT), _MOST_KEPT)
