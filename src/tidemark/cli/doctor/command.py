"""Runs all checks and shows their findings as they come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext

from tidemark.cli.doctor.connectors import check_connectors
from tidemark.cli.doctor.findings import Finding, healthy, json_text, plain_text
from tidemark.cli.doctor.machine import check_java, check_machine, check_worker_python
from tidemark.cli.doctor.packages import check_connect, check_packages, check_python
from tidemark.cli.doctor.script import check_script
from tidemark.cli.exit_codes import Failed
from tidemark.cli.output_log import spark_output_to_log
from tidemark.cli.scripts import init_scripts, open_session, read_script, read_settings
from tidemark.cli.status import StatusLine
from tidemark.cli.terminal import Terminal
from tidemark.cli.worker import Worker
from tidemark.session.workspace import Workspace


def doctor_command(terminal: Terminal, *, as_json: bool, with_spark: bool, debug: bool) -> None:
    findings = list(_without_spark())
    if with_spark and healthy(findings):
        findings += _with_spark(terminal, debug)
    _show(findings, terminal, as_json=as_json)


def doctor_script_command(
    file: str, init: str | None, settings: Sequence[str], terminal: Terminal, *, as_json: bool
) -> None:
    workspace = Workspace(read_settings(settings))
    findings = list(check_script([*init_scripts(init), read_script(file)], workspace))
    _show(findings, terminal, as_json=as_json)


def _show(findings: Sequence[Finding], terminal: Terminal, *, as_json: bool) -> None:
    terminal.write(json_text(findings) if as_json else plain_text(findings, terminal))
    if not healthy(findings):
        raise Failed


def _without_spark() -> Iterator[Finding]:
    yield from check_python()
    yield from check_packages()
    yield from check_java()
    yield from check_worker_python()
    yield from check_machine()
    yield from check_connectors()
    yield from check_connect()


def _with_spark(terminal: Terminal, debug: bool) -> list[Finding]:
    from tidemark.cli.doctor.spark_start import check_spark

    status = StatusLine(terminal)
    with nullcontext() if debug else spark_output_to_log(terminal):
        try:
            return Worker().call(
                lambda: list(check_spark(lambda: open_session({}, None))),
                lambda: status.show("starting Spark, this takes a while"),
            )
        finally:
            status.clear()
