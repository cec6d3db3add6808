"""Checks any engine: runs scripts with an external command that prints the changelog.

The command prints one JSON object per change, `{"op": "+I", "row": {...}}`; if it rejects the
script, it fails or prints `{"error": "..."}`.
"""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.case import Case, Change
from conformance.compare import differences
from conformance.script import write_script


@dataclass(frozen=True)
class Answer:
    """What a command printed for a case."""

    exit_code: int
    out: str
    err: str = ""


def run_each(
    cases: Sequence[Case], command: str, folder: Path, timeout: float
) -> Iterator[tuple[Case, Answer]]:
    """One command per case; `{script}` and `{case}` are replaced by its script and its name."""
    for case in cases:
        script = write_script(case, folder / case.name)
        filled = command.replace("{case}", shlex.quote(case.name))
        filled = filled.replace("{script}", shlex.quote(str(script)))
        try:
            done = subprocess.run(
                filled,
                shell=True,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout,
            )
            yield case, Answer(done.returncode, done.stdout, done.stderr)
        except subprocess.TimeoutExpired:
            yield case, Answer(124, "", f"timed out after {timeout} s")


def run_together(
    cases: Sequence[Case], command: str, folder: Path, timeout: float
) -> Iterator[tuple[Case, Answer]]:
    """One command for all; `{manifest}` is replaced by a file of JSON lines that give, for each
    case, its script and the file to write its changelog to.
    """
    manifest = folder / "manifest.jsonl"
    outputs = {case.name: folder / case.name / "out.jsonl" for case in cases}
    with open(manifest, "w", encoding="utf-8") as file:
        for case in cases:
            script, out = write_script(case, folder / case.name), outputs[case.name]
            entry = {"case": case.name, "script": str(script), "out": str(out)}
            file.write(json.dumps(entry | {"arrival": case.arrival}) + "\n")
    with contextlib.suppress(subprocess.TimeoutExpired):
        filled = command.replace("{manifest}", shlex.quote(str(manifest)))
        subprocess.run(filled, shell=True, stdout=subprocess.DEVNULL, timeout=timeout * len(cases))
    for case in cases:
        out = outputs[case.name]
        found = Answer(0, out.read_text("utf-8")) if out.exists() else Answer(1, "", "no output")
        yield case, found


def judge(case: Case, answer: Answer) -> list[str]:
    """What is wrong with an answer, in words; empty if it matches Flink's."""
    changes, error = _read(answer.out)
    if case.compare == "error":
        if answer.exit_code == 0 and error is None:
            return [f"expected an error ({case.error}), got {len(changes)} changes"]
        return unmentioned(case, "\n".join(filter(None, (error, answer.out, answer.err))))
    if answer.exit_code != 0 or error is not None:
        said = (error or answer.err or answer.out).strip().split("\n")[-1]
        return [f"command failed (exit {answer.exit_code}): {said[:300]}"]
    return differences(case, changes)


def unmentioned(case: Case, message: str) -> list[str]:
    """What a good error message mentions and this one does not."""
    return [
        f"the error does not mention /{pattern}/"
        for pattern in case.error_mentions
        if not re.search(pattern, message, re.I | re.S)
    ]


def _read(text: str) -> tuple[list[Change], str | None]:
    """The changes among a command's output lines, and the error it reports, if any."""
    changes, error = [], None
    for line in text.splitlines():
        try:
            entry = json.loads(line) if line.startswith("{") else {}
        except json.JSONDecodeError:
            continue
        if "op" in entry and "row" in entry:
            changes.append((entry["op"], entry["row"]))
        elif "error" in entry:
            error = str(entry["error"])
    return changes, error
