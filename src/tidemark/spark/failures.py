"""Spark's exceptions as errors a person can act on."""

from __future__ import annotations

import re

from tidemark.errors import DataError, JobError, TidemarkError

_RAISED = re.compile(r"\[USER_RAISED_EXCEPTION\]\s*(.*?)\s*(?:SQLSTATE: \w+|$)", re.DOTALL)
_CLASSED = re.compile(r"\[[A-Z][A-Z0-9_.]+\]\s*(.*?)(?:\s*SQLSTATE: \w+|\n|$)", re.DOTALL)
# An error of ours that a worker has raised: its kind, what is wrong, and the lines of details.
_OURS = re.compile(
    r"^tidemark\.errors\.(DataError|JobError): (.*)((?:\n  \w[^\n:]*: .*)*)", re.MULTILINE
)
_PYTHON = re.compile(r"^(\w+(?:\.\w+)*(?:Error|Exception): .*)$", re.MULTILINE)


def translate(failure: BaseException) -> TidemarkError:
    """What went wrong in a job, in one sentence, with Spark's own words as a note."""
    if isinstance(failure, TidemarkError):
        return failure
    text = _whole_text(failure)
    raised = _RAISED.search(text)
    if raised:
        return DataError(raised.group(1))
    ours = list(_OURS.finditer(text))
    if ours:
        return _again(*ours[-1].groups())
    python = _PYTHON.findall(text)
    if python and "Traceback (most recent call last)" in text:
        return JobError(f"a Python function failed: {python[-1]}")
    classed = _CLASSED.findall(text)
    message = classed[-1] if classed else text.strip().split("\n", 1)[0]
    return JobError(f"the job failed: {message.strip() or type(failure).__name__}")


def _again(kind: str, message: str, details: str) -> TidemarkError:
    """The error as it was raised, from what it has printed."""
    said = [line.strip().partition(": ") for line in details.splitlines() if line]
    notes = {key: value for key, _, value in said}
    hint = notes.pop("hint", None)
    return {"DataError": DataError, "JobError": JobError}[kind](message, notes=notes, hint=hint)


def _whole_text(failure: BaseException) -> str:
    parts, current = [], failure
    while current is not None:
        parts.append(str(current))
        current = current.__cause__  # type: ignore[assignment]
    return "\n".join(parts)
