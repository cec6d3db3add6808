"""`tidemark verify`: compares a script's queries as a stream and as a batch."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from tidemark.cli.exit_codes import Failed
from tidemark.cli.interrupts import Interrupts
from tidemark.cli.output_log import spark_output_to_log
from tidemark.cli.scripts import init_scripts, open_session, read_scripts, read_settings
from tidemark.cli.terminal import Terminal


def verify_command(
    file: str | None,
    execute: Sequence[str],
    init: str | None,
    settings: Sequence[str],
    terminal: Terminal,
    *,
    debug: bool,
) -> None:
    """Raises Failed if a query returns other rows as a batch than as a stream."""
    from tidemark.session.verify import verify

    scripts = read_scripts(file, execute)
    first = init_scripts(init)
    options = read_settings(settings)
    checked = unequal = 0
    with nullcontext() if debug else spark_output_to_log(terminal), Interrupts():
        session = open_session(options, None)
        # Queries run, but nothing is written: no table is made or dropped in a catalog, either.
        session.workspace.catalogs.runs = False
        try:
            for source in first:
                session.workspace.plan_script(source.text, source.name)
            for source in scripts:
                for found in verify(session, source.text, source.name):
                    checked += 1
                    unequal += not found.equal
                    terminal.write(_line(found.query, terminal, found.equal))
                    for way, side in (("stream", found.stream), ("batch", found.batch)):
                        terminal.write(f"  {way:<7}{side.rows:>10} rows  {side.checksum}\n")
        finally:
            session.stop()
    if not checked:
        terminal.say("nothing to verify: the script has no query and no INSERT")
    if unequal:
        raise Failed


def _line(query: str, terminal: Terminal, equal: bool) -> str:
    verdict = terminal.paint("equal", "green") if equal else terminal.paint("DIFFERENT", "bold red")
    short = " ".join(query.split())
    return f"{verdict}  {short if len(short) <= 90 else short[:87] + '...'}\n"
