"""`tidemark checkpoint`: shows, checks and copies checkpoints."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from tidemark.checkpoints.overview import CheckpointJob, CheckpointOperator
from tidemark.cli.choices import CheckFormat
from tidemark.cli.exit_codes import Failed
from tidemark.cli.scripts import init_scripts, read_scripts, read_settings
from tidemark.cli.terminal import Terminal
from tidemark.session.checkpoints import Checkpoint, StateOutcome
from tidemark.session.workspace import Workspace

_STYLES = {"kept": "green", "rebuilt": "yellow", "lost": "red", "refused": "bold red"}


def show_command(folder: str, format: CheckFormat, terminal: Terminal) -> None:
    jobs = Checkpoint(folder).jobs
    if format is CheckFormat.json:
        terminal.write(json.dumps([asdict(job) for job in jobs], indent=2) + "\n")
        return
    for job in jobs:
        terminal.write("\n".join(_job(job, terminal)) + "\n")


def check_command(
    folder: str,
    file: str | None,
    execute: Sequence[str],
    init: str | None,
    settings: Sequence[str],
    format: CheckFormat,
    terminal: Terminal,
) -> None:
    scripts = read_scripts(file, execute, "checkpoint check")
    workspace = Workspace(read_settings(settings))
    for source in init_scripts(init):
        workspace.plan_script(source.text, source.name)
    found = Checkpoint(folder).check_in(workspace, list(scripts))
    if format is CheckFormat.json:
        terminal.write(json.dumps([asdict(outcome) for outcome in found], indent=2) + "\n")
    else:
        for outcome in found:
            terminal.write("\n".join(_outcome(outcome, terminal)) + "\n")
    if any(outcome.outcome in ("lost", "refused") for outcome in found):
        raise Failed


def copy_command(folder: str, target: str, terminal: Terminal) -> None:
    copied = Checkpoint(folder).copy(target)
    for job in copied.jobs:
        after = "before any micro-batch" if job.last_batch is None else f"batch {job.last_batch}"
        terminal.say(f"copied job {job.name}, {after}")


# --- lines -------------------------------------------------------------------------------------


def _job(job: CheckpointJob, terminal: Terminal) -> Iterator[str]:
    yield terminal.paint(job.name, "bold")
    yield f"  written by   Tidemark {job.tidemark}, Spark {job.spark}"
    yield f"  key groups   {job.key_groups} in {job.shuffle_partitions} partitions"
    for source in job.sources:
        yield f"  source       {source}"
    batch = "none" if job.last_batch is None else str(job.last_batch)
    yield f"  last batch   {batch}{', one more is unfinished' if job.unfinished else ''}"
    yield f"  watermark    {job.watermark or 'none'}"
    for operator in job.operators:
        yield f"  operator     {operator.id}: {_kept(operator)}"
    if not job.operators:
        yield "  operator     none is stateful"
    if job.counted_after is not None and job.counted_after != job.last_batch:
        yield f"  state size as of batch {job.counted_after}"


def _kept(operator: CheckpointOperator) -> str:
    if operator.state_rows is None:
        return "not counted yet"
    waiting = f", {operator.waiting:,} of them waiting" if operator.waiting else ""
    return f"{operator.state_rows:,} rows, {operator.state_bytes:,} bytes{waiting}"


def _outcome(outcome: StateOutcome, terminal: Terminal) -> Iterator[str]:
    word = terminal.paint(f"{outcome.outcome:<8}", _STYLES[outcome.outcome])
    operator = f" {outcome.operator}" if outcome.operator else ""
    reason = f": {outcome.reason}" if outcome.reason else ""
    yield f"{word} {outcome.job}{operator}{reason}"
    for name in ("then", "now", "hint"):
        if reason := getattr(outcome, name):
            yield f"           {name}: {reason}"
