"""The findings of checks, and how they are shown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Literal

from tidemark.cli.terminal import Terminal
from tidemark.errors import TidemarkError

Status = Literal["ok", "optional", "warning", "missing"]

_STYLES: dict[Status, str] = {
    "ok": "green",
    "optional": "dim",
    "warning": "yellow",
    "missing": "bold red",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. `todo` is what to do if something is wrong."""

    section: str
    name: str
    status: Status
    detail: str = ""
    todo: str | None = None


def what_and_todo(error: TidemarkError) -> tuple[str, str | None]:
    """An error as the end of a finding."""
    notes = "; ".join(f"{key}: {value}" for key, value in error.notes.items())
    return f"{error.message}{f' ({notes})' if notes else ''}", error.hint


def healthy(findings: Sequence[Finding]) -> bool:
    """Whether everything that is required is there."""
    return all(finding.status != "missing" for finding in findings)


def plain_text(findings: Sequence[Finding], terminal: Terminal) -> str:
    """The findings by section, one per line."""
    width = max(len(finding.name) for finding in findings)
    lines = []
    for section, group in groupby(findings, key=lambda finding: finding.section):
        lines.append(terminal.paint(section, "bold"))
        for finding in group:
            mark = terminal.paint(f"{finding.status:<8}", _STYLES[finding.status])
            lines.append(f"  {mark}  {finding.name:<{width}}  {finding.detail}".rstrip())
            if finding.todo:
                arrow = terminal.paint("to do:", "cyan")
                lines.append(f"  {'':8}  {'':{width}}  {arrow} {finding.todo}")
    return "\n".join(lines) + "\n"


def json_text(findings: Sequence[Finding]) -> str:
    report = {"ok": healthy(findings), "findings": [asdict(finding) for finding in findings]}
    return json.dumps(report, indent=2, ensure_ascii=False) + "\n"
