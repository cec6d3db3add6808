"""Spark's exceptions as errors a person can act on."""

from __future__ import annotations

import re
from urllib.parse import unquote

from tidemark.errors import DataError, JobError, TidemarkError
from tidemark.spark.carried import whole_text

_RAISED = re.compile(r"\[USER_RAISED_EXCEPTION\]\s*(.*?)\s*(?:SQLSTATE: \w+|$)", re.DOTALL)
_CLASSED = re.compile(r"\[[A-Z][A-Z0-9_.]+\]\s*(.*?)(?:\s*SQLSTATE: \w+|\n|$)", re.DOTALL)
# An error of ours that a worker has raised: its kind, what is wrong, and the lines of details.
_OURS = re.compile(
    r"^tidemark\.errors\.(DataError|JobError): (.*)((?:\n  \w[^\n:]*: .*)*)", re.MULTILINE
)
# A file that a reader of Spark's gave up on; then what it says of it, if that is anything.
_FILE = re.compile(
    r"\[FAILED_READ_FILE\.\w+\] .*?(?:reading file|footer for file:) (?:file:/*(?=/))?"
    r"(?P<file>\S*?)\.(?: (?P<said>.*?))?(?:\s*SQLSTATE: \w+|\n|$)"
)
_ROOT = re.compile(r"^Caused by: ([\w.$]+)(?:: (.*))?$", re.MULTILINE)
_PYTHON = re.compile(r"^(\w+(?:\.\w+)*(?:Error|Exception): .*)$", re.MULTILINE)


def translate(failure: BaseException) -> TidemarkError:
    """What went wrong in a job, in one sentence, with Spark's own words as a note."""
    if isinstance(failure, TidemarkError):
        return failure
    text = whole_text(failure)
    raised = _RAISED.search(text)
    if raised:
        return DataError(raised.group(1))
    ours = list(_OURS.finditer(text))
    if ours:
        return _again(*ours[-1].groups())
    file = _FILE.search(text)
    if file:
        return _unreadable(unquote(file["file"]), file["said"], text)
    python = _PYTHON.findall(text)
    if python and "Traceback (most recent call last)" in text:
        return JobError(f"a Python function failed: {python[-1]}")
    classed = _CLASSED.findall(text)
    message = classed[-1] if classed else text.strip().split("\n", 1)[0]
    return JobError(f"the job failed: {message.strip() or type(failure).__name__}")


def _unreadable(path: str, said: str | None, text: str) -> DataError:
    """A whole file that cannot be read, with the reason that lies deepest."""
    roots = [message or kind.rpartition(".")[2] for kind, message in _ROOT.findall(text)]
    reason = said or (roots[-1] if roots else "Spark does not say why")
    # Readers name the file once more, and list bytes.
    named = f"(?:file:(?://)?)?{re.escape(path)}"
    reason = re.sub(f"(?<=file ){named}", "", re.sub(f"^{named}", "it", reason))
    reason = reason.partition(", but found [")[0].replace(" .", ".")
    return DataError(f"{path}  cannot read the file", notes={"why": reason})


def _again(kind: str, message: str, details: str) -> TidemarkError:
    """The error as it was raised, from what it has printed."""
    said = [line.strip().partition(": ") for line in details.splitlines() if line]
    notes = {key: value for key, _, value in said}
    hint = notes.pop("hint", None)
    return {"DataError": DataError, "JobError": JobError}[kind](message, notes=notes, hint=hint)
