"""The `check` protocol on real Flink: what a command for it has to do.

    ENGINE='.venv-flink/bin/python -m conformance.flink_engine'
    python -m conformance check --cmd "$ENGINE {script}"
    python -m conformance check --batch-cmd "$ENGINE --manifest {manifest}"

It verifies scripts, data files and comparison from
end to end.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from conformance.case import BASE_SETTINGS, SET_STATEMENT
from conformance.flink import Flink, collect, error_essence


def main(arguments: list[str]) -> int:
    flink = Flink()
    try:
        if arguments[0] == "--manifest":
            _run_manifest(flink, Path(arguments[1]))
        else:
            print("\n".join(_changes(flink, Path(arguments[0]))))
    except Exception as error:
        print(error_essence(error), file=sys.stderr)
        return 1
    finally:
        flink.close()
    return 0


def _run_manifest(flink: Flink, manifest: Path) -> None:
    for line in manifest.read_text(encoding="utf-8").splitlines():
        job = json.loads(line)
        try:
            lines = list(_changes(flink, Path(job["script"])))
        except Exception as error:
            lines = [json.dumps({"error": error_essence(error)})]
        Path(job["out"]).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _changes(flink: Flink, script: Path) -> Iterator[str]:
    statements = list(split_statements(script.read_text(encoding="utf-8")))
    sets = [match for statement in statements if (match := SET_STATEMENT.match(statement))]
    others = [statement for statement in statements if not SET_STATEMENT.match(statement)]
    settings = BASE_SETTINGS | {match[1]: match[2].replace("''", "'") for match in sets}
    environment = flink.environment(settings)
    for statement in others[:-1]:
        environment.execute_sql(statement)
    outcome = collect(environment.execute_sql(others[-1]), settings["table.local-time-zone"])
    for op, row in outcome.changes:
        yield json.dumps({"op": op, "row": row}, ensure_ascii=False)


def split_statements(text: str) -> Iterator[str]:
    """The statements of a script: split at semicolons outside quotes and comments."""
    current, quote, position = "", "", 0
    while position < len(text):
        character = text[position]
        if not quote and text.startswith("--", position):
            end = text.find("\n", position)
            position = len(text) if end < 0 else end
            continue
        if quote:
            quote = "" if character == quote else quote
        elif character in "'`\"":
            quote = character
        if character == ";" and not quote:
            yield current.strip()
            current = ""
        else:
            current += character
        position += 1
    if current.strip():
        yield current.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
