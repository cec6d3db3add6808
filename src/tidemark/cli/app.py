"""The commands and their options. A command's implementation is imported when it is chosen."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from tidemark.cli.choices import CheckFormat, ColorChoice, PlanFormat, ResultFormat
from tidemark.cli.exit_codes import errors_as_exit_codes

app = typer.Typer(
    name="tidemark",
    help="Flink SQL's streaming joins and windows, unchanged, on Apache Spark.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

File = Annotated[
    str | None,
    typer.Argument(metavar="FILE", help="A file of SQL statements; `-` reads standard input."),
]
Execute = Annotated[
    list[str],
    typer.Option(
        "-e", "--execute", metavar="SQL", help="More statements, run after those of FILE."
    ),
]
Init = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="A script to run first, with tables, views and options. [env: TIDEMARK_INIT]",
    ),
]
Settings = Annotated[
    list[str],
    typer.Option(
        "--set", metavar="KEY=VALUE", help="A session option; `spark.*` keys go to Spark."
    ),
]
Checkpoint = Annotated[
    str | None,
    typer.Option(
        metavar="DIR", help="A checkpoint folder, to save progress in and to resume from."
    ),
]
Local = Annotated[
    bool,
    typer.Option("--local", help="Run in this process, without Java; only for bounded tables."),
]
Arguments = Annotated[
    list[str] | None,
    typer.Argument(metavar="ARGUMENT", help="Of a Python program, after `--`."),
]
Master = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Spark's master: spark://..., k8s://..., yarn, local[4]."),
]
Packages = Annotated[
    str | None,
    typer.Option(
        metavar="ARCHIVE", help="What `tidemark pack` made, for workers that have no Tidemark."
    ),
]
AllowNonRestored = Annotated[
    bool,
    typer.Option(
        "--allow-non-restored-state",
        help="Resume without the state of operators that the script no longer has.",
    ),
]
OutputFormat = Annotated[ResultFormat, typer.Option("-o", "--output", help="The output format.")]
MaxRows = Annotated[
    int | None,
    typer.Option(metavar="N", min=0, help="Stop each query after N rows (or changes)."),
]
Progress = Annotated[
    bool, typer.Option("--progress/--no-progress", help="Show a status line on a terminal.")
]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print only results and errors.")]
MetricsPort = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=0, max=65535, help="Serve metrics of the jobs to Prometheus at this port."
    ),
]
MetricsAddress = Annotated[
    str, typer.Option(metavar="ADDRESS", help="The address at which metrics are served.")
]
Color = Annotated[ColorChoice, typer.Option(help="When to use colors.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks and Spark's own log.")]


def _show_version(wanted: bool) -> None:
    if wanted:
        from tidemark import __version__

        typer.echo(f"tidemark {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    pass


@app.command(short_help="Run a script: show the results of its queries and wait for its jobs.")
def run(
    file: File = None,
    arguments: Arguments = None,
    execute: Execute = [],  # noqa: B006 - typer copies it
    output: OutputFormat = ResultFormat.table,
    local: Local = False,
    master: Master = None,
    packages: Packages = None,
    checkpoint: Checkpoint = None,
    allow_non_restored_state: AllowNonRestored = False,
    init: Init = None,
    settings: Settings = [],  # noqa: B006
    max_rows: MaxRows = None,
    metrics_port: MetricsPort = None,
    metrics_address: MetricsAddress = "127.0.0.1",
    progress: Progress = True,
    quiet: Quiet = False,
    color: Color = ColorChoice.auto,
    debug: Debug = False,
) -> None:
    """Run a script: show the results of its queries, wait for its jobs.

    \b
    Examples:
      tidemark run orders.sql
      tidemark run orders.sql --output jsonl | jq .row.id
      tidemark run -e "SELECT UPPER('tide')"
      tidemark run --local enriched.sql         # over files, in a second or two
      tidemark run --init tables.sql report.sql --set table.local-time-zone=Asia/Tokyo
      tidemark run pipeline.sql --checkpoint /var/lib/orders    # run again to resume
      tidemark run pipeline.sql --master spark://host:7077 --checkpoint s3a://bucket/orders
      cat orders.sql | tidemark run -
      tidemark run job.py -- --date 2026-11-29  # a program that was written for PyFlink

    Results go to standard output, everything else to standard error. Ctrl-C stops running
    jobs cleanly.
    \b
    Exit code: 0 fine, 1 an error in the SQL or a job, 2 wrong usage, 130 stopped by Ctrl-C.
    """
    with errors_as_exit_codes(color, debug) as terminal:
        from tidemark.catalog.options import IGNORE_UNCLAIMED
        from tidemark.cli.run import run_command
        from tidemark.cli.runner import Display
        from tidemark.cli.scripts import on_cluster, on_engine

        if allow_non_restored_state:
            settings = [*settings, f"{IGNORE_UNCLAIMED[0]}=true"]
        display = Display(output, max_rows, progress, quiet, local)
        settings = on_engine(settings, checkpoint, local=local)
        settings = on_cluster(settings, master, packages, local=local)
        metrics = None if metrics_port is None else (metrics_port, metrics_address)
        run_command(
            file,
            arguments or (),
            execute,
            init,
            settings,
            checkpoint,
            terminal,
            display,
            debug=debug,
            metrics=metrics,
        )


@app.command(short_help="Report all errors in a script without running it.")
def check(
    file: File = None,
    execute: Execute = [],  # noqa: B006
    format: Annotated[CheckFormat, typer.Option(help="Output for people or for programs.")] = (
        CheckFormat.text
    ),
    init: Init = None,
    settings: Settings = [],  # noqa: B006
    color: Color = ColorChoice.auto,
    debug: Debug = False,
) -> None:
    """Parse and plan a script without running it; report everything that is wrong with it.

    \b
    Examples:
      tidemark check orders.sql
      tidemark check orders.sql --format json
      tidemark check --init tables.sql -e "SELECT id FROM orders"

    Needs no Java and no Spark. The exit code is 1 if there are errors.
    """
    with errors_as_exit_codes(color, debug) as terminal:
        from tidemark.cli.check import check_command

        check_command(file, execute, init, settings, format, terminal)


@app.command(short_help="Show the plans of a script's queries and INSERTs.")
def explain(
    file: File = None,
    execute: Execute = [],  # noqa: B006
    format: Annotated[PlanFormat, typer.Option(help="The format of the plans.")] = PlanFormat.text,
    init: Init = None,
    settings: Settings = [],  # noqa: B006
    color: Color = ColorChoice.auto,
    debug: Debug = False,
) -> None:
    """Show the plans of a script's queries and INSERTs: what runs, what is kept in state.

    \b
    Examples:
      tidemark explain orders.sql
      tidemark explain orders.sql --format mermaid > plan.mmd
      tidemark explain -e "SELECT 1 + 1" --format json
    """
    with errors_as_exit_codes(color, debug) as terminal:
        from tidemark.cli.explain import explain_command

        explain_command(file, execute, init, settings, format, terminal)


@app.command(short_help="Run a script's queries as a stream and as a batch, and compare.")
def verify(
    file: File = None,
    execute: Execute = [],  # noqa: B006
    init: Init = None,
    settings: Settings = [],  # noqa: B006
    color: Color = ColorChoice.auto,
    debug: Debug = False,
) -> None:
    """Run every query over bounded tables as a stream and as a batch, and compare the rows.

    \b
    Examples:
      tidemark verify orders.sql
      tidemark verify --init tables.sql -e "SELECT * FROM enriched"

    Nothing is written: of an INSERT only the query runs. The exit code is 1 if a query gives
    other rows one way than the other.
    """
    with errors_as_exit_codes(color, debug) as terminal:
        from tidemark.cli.verify import verify_command

        verify_command(file, execute, init, settings, terminal, debug=debug)


checkpoint_app = typer.Typer(
    help="See what a checkpoint holds, whether a script can resume from it, and copy it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(
    checkpoint_app, name="checkpoint", short_help="Inspect, compare and copy checkpoints."
)
Folder = Annotated[
    str, typer.Argument(metavar="DIR", help="The folder that was given to --checkpoint.")
]


@checkpoint_app.command("show", short_help="Show the jobs of a checkpoint and their state.")
def checkpoint_show(
    folder: Folder,
    format: Annotated[CheckFormat, typer.Option(help="For people or for programs.")] = (
        CheckFormat.text
    ),
    color: Color = ColorChoice.auto,
    debug: Debug = False,
) -> None:
    """Show the jobs of a checkpoint: operators, key groups, state, watermark, last batch.

    \b
    Examples:
      tidemark checkpoint show /var/lib/orders
      tidemark checkpoint show /var/lib/orders --format json | jq '.[].last_batch'

    Does not start Spark. The job may be running.
    \b
    Exit code: 0 fine, 1 not a checkpoint or one that cannot be read, 2 wrong usage.
    """
    with errors_as_exit_codes(color, debug) as terminal:
        from tidemark.cli.checkpoint import show_command

        show_command(folder, format, terminal)


@checkpoint_app.command("check", short_help="Show what a script would keep of a checkpoint.")
def checkpoint_check(
    folder: Folder,
    file: File = None,
    execute: Execute = [],  # noqa: B006
    format: Annotated[CheckFormat, typer.Option(help="For people or for programs.")] = (
        CheckFormat.text
    ),
    init: Init = None,
    settings: Settings = [],  # noqa: B006
    color: Color = ColorChoice.auto,
    debug: Debug = False,
) -> None:
    """Compare a checkpoint with a script: which state would be kept, rebuilt, lost or refused.

    \b
    Examples:
      tidemark checkpoint check /var/lib/orders pipeline.sql
      tidemark checkpoint check /var/lib/orders --init tables.sql pipeline.sql

    Does not start Spark and changes nothing.
    \b
    Exit code: 0 all state is kept, 1 some is lost or refused, 2 wrong usage.
    """
    with errors_as_exit_codes(color, debug) as terminal:
        from tidemark.cli.checkpoint import check_command

        check_command(folder, file, execute, init, settings, format, terminal)


@checkpoint_app.command("copy", short_help="Copy a checkpoint so that jobs can start from it.")
def checkpoint_copy(
    folder: Folder,
    target: Annotated[str, typer.Argument(metavar="NEW", help="A folder that does not exist yet.")],
    color: Color = ColorChoice.auto,
    debug: Debug = False,
) -> None:
    """Copy a checkpoint as it was after the last finished micro-batch of each job: a savepoint.

    \b
    Examples:
      tidemark checkpoint copy /var/lib/orders /backup/orders-monday
      tidemark run pipeline.sql --checkpoint /backup/orders-monday

    Does not start Spark. The jobs may be running; the copy does not depend on the original.
    \b
    Exit code: 0 fine, 1 it cannot be copied, 2 wrong usage.
    """
    with errors_as_exit_codes(color, debug) as terminal:
        from tidemark.cli.checkpoint import copy_command

        copy_command(folder, target, terminal)


@app.command(short_help="An interactive shell.")
def sql(
    output: OutputFormat = ResultFormat.table,
    local: Local = False,
    master: Master = None,
    packages: Packages = None,
    checkpoint: Checkpoint = None,
    init: Init = None,
    settings: Settings = [],  # noqa: B006
    max_rows: MaxRows = None,
    progress: Progress = True,
    color: Color = ColorChoice.auto,
    debug: Debug = False,
) -> None:
    """An interactive shell, with history, completion and highlighting.

    \b
    Examples:
      tidemark sql
      tidemark sql --init tables.sql
      tidemark sql --local                      # without Java, over files
      tidemark sql < orders.sql                 # the same as: tidemark run -

    A statement ends with `;` and may span several lines. Ctrl-C stops the running query, Ctrl-D
    leaves. `HELP;` lists what else there is. On a terminal ~/.config/tidemark/init.sql is run
    first, if it is there.
    """
    with errors_as_exit_codes(color, debug) as terminal:
        from tidemark.cli.runner import Display
        from tidemark.cli.scripts import on_cluster, on_engine
        from tidemark.cli.shell.command import shell_command

        display = Display(output, max_rows, progress, local=local)
        settings = on_engine(settings, checkpoint, local=local)
        settings = on_cluster(settings, master, packages, local=local)
        shell_command(init, settings, checkpoint, terminal, display, debug=debug)


@app.command(short_help="Pack Tidemark for the workers of a cluster.")
def pack(
    archive: Annotated[str, typer.Argument(metavar="ARCHIVE", help="packages.tar.gz")],
    also: Annotated[
        list[str],
        typer.Option(
            "--add", metavar="PACKAGE", help="Another installed package, e.g. of functions."
        ),
    ] = [],  # noqa: B006
    color: Color = ColorChoice.auto,
    debug: Debug = False,
) -> None:
    """Write an archive with Tidemark and all that it imports, as installed here, for workers whose
    Python has none of it.

    \b
    Examples:
      tidemark pack packages.tar.gz
      tidemark run pipeline.sql --master spark://host:7077 --packages packages.tar.gz
      tidemark pack packages.tar.gz --add scikit-learn

    Workers need the same version of Python, on the same kind of machine. PySpark is not in the
    archive: they have Spark's.
    """
    with errors_as_exit_codes(color, debug) as terminal:
        from tidemark.cli.pack import pack_command

        pack_command(archive, also, terminal)


@app.command(short_help="Check Tidemark's requirements, and report what is missing.")
def doctor(
    file: File = None,
    init: Init = None,
    settings: Settings = [],  # noqa: B006
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    spark: Annotated[
        bool, typer.Option("--spark/--no-spark", help="Start Spark and run a query.")
    ] = True,
    color: Color = ColorChoice.auto,
    debug: Debug = False,
) -> None:
    """Check what Tidemark needs: Java, Python packages, workers, Spark, connectors.

    With a script, check the systems of its tables instead, without running it: whether brokers,
    databases and schema registries answer, topics and tables are there with the rights to use
    them, and the newest records can be read.

    \b
    Examples:
      tidemark doctor
      tidemark doctor --no-spark                # a second instead of half a minute
      tidemark doctor --json
      tidemark doctor pipeline.sql              # the brokers and databases of its tables

    The exit code is 1 if something needed is missing.
    """
    with errors_as_exit_codes(color, debug) as terminal:
        from tidemark.cli.doctor.command import doctor_command, doctor_script_command

        if file is not None:
            doctor_script_command(file, init, settings, terminal, as_json=json)
            return
        doctor_command(terminal, as_json=json, with_spark=spark, debug=debug)


def invoke(arguments: Sequence[str] | None) -> int:
    """Run a command line; the exit code."""
    try:
        app(arguments, prog_name="tidemark")
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 1
    sys.stdout.flush()
    return 0
