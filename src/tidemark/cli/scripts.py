"""The input of commands: files, standard input, -e, --init, --set."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tidemark.catalog.options import ENGINE
from tidemark.errors import Source, TidemarkError

if TYPE_CHECKING:
    from tidemark.session.session import Session

INIT_VARIABLE = "TIDEMARK_INIT"


class UsageError(TidemarkError):
    """The command line is not valid."""


def read_scripts(file: str | None, execute: Iterable[str], purpose: str = "run") -> list[Source]:
    """A file or `-` for standard input, followed by the SQL of -e."""
    import_from(Path.cwd())
    sources = [Source(text, "<command line>") for text in execute]
    if file is None and not sources:
        raise UsageError(
            f"nothing to {purpose}", hint="pass a file, `-` for standard input, or use -e"
        )
    return [*([read_script(file)] if file is not None else []), *sources]


def import_from(folder: Path) -> None:
    """Make the modules of a folder importable too, after the installed ones, so that it hides
    none.
    """
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def read_script(file: str) -> Source:
    """The script in a file, whose functions may be in modules beside it."""
    if file == "-":
        return Source(_decode(sys.stdin.buffer.read(), "<stdin>"), "<stdin>")
    if file.endswith(".py"):
        raise UsageError(f"{file} is a program, not SQL", hint="`tidemark run` runs programs")
    try:
        content = Path(file).read_bytes()
        import_from(Path(file).resolve().parent)
    except FileNotFoundError:
        raise UsageError(f"file not found: {file}") from None
    except OSError as error:
        raise UsageError(f"cannot read {file}", notes={"why": error.strerror}) from None
    return Source(_decode(content, file), file)


def init_scripts(given: str | None, environment: Mapping[str, str] = os.environ) -> list[Source]:
    """The script that runs before the others: --init, or else TIDEMARK_INIT."""
    file = given if given is not None else environment.get(INIT_VARIABLE)
    return [read_script(file)] if file else []


def personal_init_script(environment: Mapping[str, str] = os.environ) -> list[Source]:
    """`~/.config/tidemark/init.sql`, which only the interactive shell reads."""
    file = config_home(environment) / "init.sql"
    return [read_script(str(file))] if file.is_file() else []


def config_home(environment: Mapping[str, str] = os.environ) -> Path:
    return _home(environment, "XDG_CONFIG_HOME", ".config")


def state_home(environment: Mapping[str, str] = os.environ) -> Path:
    return _home(environment, "XDG_STATE_HOME", ".local/state")


def log_folder() -> Path:
    """The folder for logs. Raises OSError if it cannot be created."""
    folder = state_home() / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def remove_old(folder: Path, pattern: str, kept: int = 10) -> None:
    """Remove all but the latest files."""
    for old in sorted(folder.glob(pattern), key=os.path.getmtime)[:-kept]:
        old.unlink(missing_ok=True)


def read_settings(pairs: Iterable[str]) -> dict[str, str]:
    """The `key=value` pairs of --set."""
    settings = {}
    for pair in pairs:
        key, separator, value = pair.partition("=")
        if not separator or not key.strip():
            raise UsageError(f"--set {pair}: expected key=value")
        settings[key.strip()] = value.strip()
    return settings


def on_engine(settings: list[str], checkpoint: str | None, *, local: bool) -> list[str]:
    """The `key=value` pairs of --set, with the engine that --local chooses."""
    if not local:
        return settings
    if checkpoint is not None:
        raise UsageError(
            "--local and --checkpoint exclude each other",
            notes={"why": "a local job has no state from which it could go on"},
        )
    return [*settings, f"{ENGINE}=local"]


def on_cluster(
    settings: list[str], master: str | None, packages: str | None, *, local: bool
) -> list[str]:
    """The `key=value` pairs of --set, with those that --master and --packages stand for."""
    if master is None and packages is None:
        return settings
    if local:
        raise UsageError("--local runs without Spark, so it excludes --master and --packages")
    from tidemark.spark.worker_packages import worker_packages

    chosen = {} if packages is None else worker_packages(packages)
    if master is not None:
        chosen["spark.master"] = master
    return [*(f"{key}={value}" for key, value in chosen.items()), *settings]


def _decode(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise UsageError(
            f"{name} is not valid UTF-8",
            notes={"line": line, "byte": f"0x{content[error.start]:02x}"},
            hint="save the file as UTF-8",
        ) from None


def _home(environment: Mapping[str, str], variable: str, default: str) -> Path:
    base = environment.get(variable)
    return (Path(base) if base else Path.home() / default) / "tidemark"


def open_session(settings: Mapping[str, str], checkpoint: str | None) -> Session:
    """A session with these options; Spark starts with the first statement that needs it."""
    import tidemark

    for_spark = {key: value for key, value in settings.items() if key.startswith("spark.")}
    for_us = {key: value for key, value in settings.items() if key not in for_spark}
    return tidemark.connect(options=for_us, spark_config=for_spark, checkpoint=checkpoint)
