"""The Python that Spark's workers run: this one, quick to start, and slow to give memory back."""

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

from tidemark.spark import machine

# Spark puts a copy of PySpark in a zip before the installed one. It has no bytecode, so each new
# Python would compile it, for most of a second: when Spark starts workers, and when a query with
# state starts.
#
# Whole columns come and go many times a second. Memory that is given back to the system each time
# is cleared by it, page by page, when it is wanted again: a sixth of what the workers do. So both
# allocators keep it: Polars' own for half a minute, that of the C library on Linux for good, so no
# more than there is room for with several workers on each core.
#
# Workers are forked from a process that has loaded libraries, which must have no threads then.
#
# Those that Spark starts once for a stream print what they do, each step of it, to nobody's use.
_SCRIPT = """\
#!/bin/sh
PYTHONPATH="${{PYTHONPATH#*/pyspark.zip:}}"
kept=glibc.malloc.mmap_threshold={kept}:glibc.malloc.trim_threshold={kept}
: "${{_RJEM_MALLOC_CONF=thp:always,dirty_decay_ms:30000,muzzy_decay_ms:30000}}"
: "${{GLIBC_TUNABLES=glibc.malloc.hugetlb=1:$kept}}"
: "${{JE_ARROW_MALLOC_CONF=background_thread:false}}"
: "${{OPENBLAS_NUM_THREADS=1}}"
export PYTHONPATH _RJEM_MALLOC_CONF GLIBC_TUNABLES JE_ARROW_MALLOC_CONF OPENBLAS_NUM_THREADS
case "$*" in *pyspark.sql.streaming.*worker*)
  [ -n "$TIDEMARK_SPARK_LOG" ] || exec {python} "$@" >/dev/null;;
esac
exec {python} "$@"
"""
_LEAST_KEPT, _MOST_KEPT = 64 << 20, 1 << 30


def use_this_python() -> None:
    """Spark's workers run `python3` from PATH unless told otherwise."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    os.environ.setdefault("POLARS_MAX_THREADS", "1")


@contextmanager
def quick_to_start() -> Iterator[None]:
    """A Spark that starts meanwhile on this machine runs workers that import PySpark from where
    it is installed. What the user has chosen stays."""
    if not _chosen_by_us():
        yield
        return
    os.environ["PYSPARK_PYTHON"] = _script()
    try:
        yield
    finally:
        os.environ["PYSPARK_PYTHON"] = sys.executable


def worker_settings() -> dict[str, str]:
    """What Spark must be told so that its workers on this machine are forked with libraries
    loaded; only Linux is sure to fork these well."""
    if not _chosen_by_us() or sys.platform != "linux":
        return {}
    return {"spark.python.daemon.module": "tidemark.spark.worker_daemon"}


def _chosen_by_us() -> bool:
    """Whether the user has chosen no other Python and no other Spark."""
    ours = os.environ.get("PYSPARK_PYTHON") == sys.executable and "SPARK_HOME" not in os.environ
    return ours and os.name == "posix"


@cache
def _script() -> str:
    folder = Path(tempfile.mkdtemp(prefix="tidemark-python-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    script = folder / "python"
    text = _SCRIPT.format(python=shlex.quote(sys.executable), kept=bytes_kept())
    script.write_text(text, encoding="utf-8")
    script.chmod(0o700)
    # Some systems let nothing run that lies in temporary folders.
    return str(script) if os.access(script, os.X_OK) else sys.executable


def bytes_kept() -> int:
    """How much free memory a worker keeps: of a core's share a part that leaves room for others."""
    of_a_core = machine.memory() // machine.cores()
    return min(max(of_a_core // 16, _LEAST_KEPT), _MOST_KEPT)
