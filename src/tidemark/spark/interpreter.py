"""The Python that Spark's workers run: this one, and quick to start."""

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

# Spark puts a copy of PySpark in a zip before the installed one. It has no bytecode, so each new
# Python would compile it, for most of a second: when Spark starts workers, and when a query with
# state starts.
_SCRIPT = """\
#!/bin/sh
PYTHONPATH="${{PYTHONPATH#*/pyspark.zip:}}" exec {python} "$@"
"""


def use_this_python() -> None:
    """Spark's workers run `python3` from PATH unless told otherwise."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    os.environ.setdefault("POLARS_MAX_THREADS", "1")


@contextmanager
def quick_to_start() -> Iterator[None]:
    """A Spark that starts meanwhile on this machine runs workers that import PySpark from where
    it is installed. What the user has chosen stays."""
    own = os.environ.get("PYSPARK_PYTHON") == sys.executable and "SPARK_HOME" not in os.environ
    if not own or os.name != "posix":
        yield
        return
    os.environ["PYSPARK_PYTHON"] = _script()
    try:
        yield
    finally:
        os.environ["PYSPARK_PYTHON"] = sys.executable


@cache
def _script() -> str:
    folder = Path(tempfile.mkdtemp(prefix="tidemark-python-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    script = folder / "python"
    script.write_text(_SCRIPT.format(python=shlex.quote(sys.executable)), encoding="utf-8")
    script.chmod(0o700)
    # Some systems let nothing run that lies in temporary folders.
    return str(script) if os.access(script, os.X_OK) else sys.executable
