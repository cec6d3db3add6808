"""Spark's exceptions as errors for users."""

from __future__ import annotations

import re
from urllib.parse import unquote

from tidemark.errors import DataError, JobError, SetupError, TidemarkError
from tidemark.spark.error_details import full_message

_RAISED = re.compile(r"\[USER_RAISED_EXCEPTION\]\s*(.*?)\s*(?:SQLSTATE: \w+|$)", re.DOTALL)
_CLASSED = re.compile(r"\[[A-Z][A-Z0-9_.]+\]\s*(.*?)(?:\s*SQLSTATE: \w+|\n|$)", re.DOTALL)
# A Tidemark error raised by a worker: its kind, its message, and the lines of details.
_OURS = re.compile(
    r"^tidemark\.errors\.(DataError|JobError|SetupError): (.*)((?:\n  \w[^\n:]*: .*)*)",
    re.MULTILINE,
)
# A file that a Spark reader gave up on, and its reason, if any.
_FILE = re.compile(
    r"\[FAILED_READ_FILE\.\w+\] .*?(?:reading file|footer for file:) (?:file:/*(?=/))?"
    r"(?P<file>\S*?)\.(?: (?P<why>.*?))?(?:\s*SQLSTATE: \w+|\n|$)"
)
_ROOT = re.compile(r"^Caused by: ([\w.$]+)(?:: (.*))?$", re.MULTILINE)
_NO_FILE_SYSTEM = re.compile(
    r'No FileSystem for scheme "?([\w+.-]+)|org\.apache\.hadoop\.fs\.(s3a|azurebfs)\.\S+ not found'
)
# What ended a task for which Spark has no class of errors.
_LOST_TASK = re.compile(r"most recent failure: Lost task .*?\): (.+)$", re.MULTILINE)
_CRASHED = re.compile(r"Python worker exited unexpectedly")
# Java does not say where; Python does, except for what it writes into an open file.
_DISK_FULL = re.compile(r"No space left on device(?:: '([^'\n]+)')?")
# What a worker's Python lacks of what every worker needs.
_NOT_THERE = re.compile(r"No module named '(tidemark|polars|pyarrow|numpy|pandas|msgspec)\b")
_PYTHON = re.compile(r"^(\w+(?:\.\w+)*(?:Error|Exception): .*)$", re.MULTILINE)


def translate(failure: BaseException) -> TidemarkError:
    """What went wrong in a job, in one sentence, with Spark's own message as a note."""
    if isinstance(failure, TidemarkError):
        return failure
    text = full_message(failure)
    raised = _RAISED.search(text)
    if raised:
        return DataError(raised.group(1))
    nowhere = _NO_FILE_SYSTEM.search(text)
    if nowhere:
        return _no_file_system(nowhere[1] or {"azurebfs": "abfss"}.get(nowhere[2], nowhere[2]))
    lacking = _NOT_THERE.search(text)
    if lacking:
        return JobError(
            f"a worker's Python has no package {lacking[1]}",
            hint="install Tidemark on all workers, or send what is installed here: "
            "tidemark pack packages.tar.gz; tidemark run --packages packages.tar.gz ...",
        )
    full = _DISK_FULL.search(text)
    if full:
        return _disk_full(full[1])
    ours = list(_OURS.finditer(text))
    if ours:
        return _again(*ours[-1].groups())
    file = _FILE.search(text)
    if file:
        return _unreadable(unquote(file["file"]), file["why"], text)
    if _CRASHED.search(text):
        return JobError(
            "a Python worker of Spark crashed, or was killed",
            hint="most often because memory ran out: give the job more of it, or fewer tasks at a "
            "time, such as 'local[1]' as 'spark.master'",
        )
    # A failed call into Spark is not a failure of Python; Spark's own message is there too.
    python = [error for error in _PYTHON.findall(text) if not error.startswith("py4j.")]
    if python and "Traceback (most recent call last)" in text:
        return JobError(f"a Python function failed: {python[-1]}")
    classed = _CLASSED.findall(text) or _LOST_TASK.findall(text)
    message = classed[-1] if classed else text.strip().split("\n", 1)[0]
    return JobError(f"the job failed: {message.strip() or type(failure).__name__}")


def _unreadable(path: str, why: str | None, text: str) -> DataError:
    """A file that cannot be read at all, with the innermost reason."""
    roots = [message or kind.rpartition(".")[2] for kind, message in _ROOT.findall(text)]
    reason = why or (roots[-1] if roots else "Spark does not say why")
    # Readers repeat the file, and list bytes.
    named = f"(?:file:(?://)?)?{re.escape(path)}"
    reason = re.sub(f"(?<=file ){named}", "", re.sub(f"^{named}", "it", reason))
    reason = reason.partition(", but found [")[0].replace(" .", ".")
    return DataError(f"{path}  cannot read the file", notes={"why": reason})


def _disk_full(file: str | None) -> JobError:
    return JobError(
        "the disk is full",
        notes={"file": file} if file else {},
        hint="free up space where the job writes: its checkpoint, its tables, and Spark's own "
        "files ('spark.local.dir', /tmp by default); then start it again",
    )


def _no_file_system(scheme: str) -> JobError:
    return JobError(
        f"Spark knows no file system '{scheme}://'",
        hint="if the scheme is right, Spark lacks its jars: for s3a, 'spark.jars.packages' = "
        "'org.apache.hadoop:hadoop-aws:...' of the version of its own Hadoop",
    )


def _again(kind: str, message: str, details: str) -> TidemarkError:
    """The error as it was raised, reconstructed from its printed form."""
    pairs = [line.strip().partition(": ") for line in details.splitlines() if line]
    notes = {key: value for key, _, value in pairs}
    hint = notes.pop("hint", None)
    kinds = {"DataError": DataError, "JobError": JobError, "SetupError": SetupError}
    return kinds[kind](message, notes=notes, hint=hint)
