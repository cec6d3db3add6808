"""What to say when Spark's Java process has gone: the calls into it fail with errors of sockets."""

from __future__ import annotations

import signal
import subprocess
import sys
import traceback
from typing import Any, Final

from tidemark.errors import JobError

# A process that has closed its sockets may need a moment to end.
_SECONDS: Final = 5


def ended_java(failure: BaseException) -> JobError | None:
    """What a failed call means if it is that Java has ended; None if it is not."""
    if not _is_a_call(failure) or (code := _exit_code()) is None:
        return None
    return JobError(
        "Spark's Java process has ended",
        notes={"why": _why(code)},
        hint="if memory ran out, give the driver more ('spark.driver.memory'), or the machine; "
        "with a checkpoint, the job goes on when it is started again",
    )


def _is_a_call(failure: BaseException) -> bool:
    """Whether Py4J has failed, or a socket in it. An exception of Java is an answer."""
    kind = type(failure)
    if kind.__module__ == "py4j.protocol" and kind.__name__ != "Py4JJavaError":
        return True
    frames = traceback.walk_tb(failure.__traceback__)
    return isinstance(failure, OSError) and any(
        frame.f_globals.get("__name__", "").startswith("py4j.") for frame, _ in frames
    )


def _exit_code() -> int | None:
    """How the Java process ended that this one has started, if it has."""
    if "pyspark" not in sys.modules:
        return None
    from pyspark import SparkContext

    process: Any = getattr(SparkContext._gateway, "proc", None)
    if process is None:
        return None
    try:
        return int(process.wait(_SECONDS))
    except subprocess.TimeoutExpired:
        return None


def _why(code: int) -> str:
    if code >= 0:
        return f"it ended with exit code {code}"
    name = signal.Signals(-code).name
    return f"it was killed by {name}" + (
        ", as the system does when memory runs out" if name == "SIGKILL" else ""
    )
