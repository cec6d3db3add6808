"""Runs generated cases on one engine, in one process, and keeps its answers beside them.

    .venv-flink/bin/python -m conformance.generate.engines flink --folder F
    .venv/bin/python -m conformance.generate.engines tidemark --folder F
    .venv/bin/python -m conformance.generate.engines spark --folder F --only s1_0004

An answer is a line of `F/<engine>.jsonl`. Cases that have one are not run again.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conformance.case import Case
from conformance.case_file import load_cases
from conformance.script import write_script

Answer = dict[str, Any]
Run = Callable[[Case], Answer]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engine", choices=list(ENGINES))
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=[], help="names of cases")
    options = parser.parse_args(arguments)
    answer_all(options.engine, options.folder, options.only)
    return 0


def answer_all(engine: str, folder: Path, only: list[str]) -> None:
    file = folder / f"{engine}.jsonl"
    answered = {} if only else answers(folder, engine)
    cases = load_cases(only, root=folder)
    run = ENGINES[engine]()
    with open(file, "a", encoding="utf-8") as output:
        for case in cases:
            if case.path.stem in answered:
                continue
            started = time.monotonic()
            answer = {"case": case.path.stem, **run(case)}
            answer["seconds"] = round(time.monotonic() - started, 2)
            print(json.dumps(answer, ensure_ascii=False), file=output, flush=True)


def answers(folder: Path, engine: str) -> dict[str, Answer]:
    """The last answer of an engine to each case."""
    file = folder / f"{engine}.jsonl"
    if not file.exists():
        return {}
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return {line["case"]: line for line in lines}


def _flink(mode: str = "streaming", swapped: bool = False) -> Run:
    from conformance import databases
    from conformance.flink import Flink, error_essence
    from conformance.generate import cluster

    databases.make_reachable()
    flink = Flink(cluster.start())

    def run(case: Case) -> Answer:
        order = None
        if swapped:
            order = [table.name for table in reversed(case.tables) for _ in table.rows]
        try:
            outcome = flink.run(case, order, mode)
        except Exception as error:
            return {"error": error_essence(error)}
        return {"schema": outcome.schema, "changes": outcome.changes}

    return run


def tidemark_on(mode: str = "streaming", **connection: Any) -> Run:
    import tidemark
    from tidemark.errors import TidemarkError
    from tidemark.rows import json_row

    def run(case: Case) -> Answer:
        with tempfile.TemporaryDirectory() as folder:
            script = write_script(case, Path(folder)).read_text(encoding="utf-8")
            session = tidemark.connect(**connection)
            session.sql(f"SET 'execution.runtime-mode' = '{mode}'")
            try:
                result = session.sql(script, name=case.path.stem)
                changes = [(c.kind, json_row(c.row, result.columns)) for c in result.changes()]
            except TidemarkError as error:
                return {"error": f"{type(error).__name__}: {error}"}
            except Exception:
                return {"crash": traceback.format_exc()[-3000:]}
            finally:
                if not connection.get("engine"):
                    session.stop()
            types = {c.name: str(c.type).replace("`", "") for c in result.columns}
            return {"schema": types, "changes": json.loads(json.dumps(changes, default=str))}

    return run


def _spark() -> Run:
    from tidemark.spark.settings import start

    two_cores = {"spark.master": "local[2]", "spark.sql.shuffle.partitions": "2"}
    return tidemark_on(spark=start({**two_cores, "spark.ui.enabled": "false"}))


ENGINES: dict[str, Callable[[], Run]] = {
    "flink": _flink,
    "flink-swapped": lambda: _flink(swapped=True),
    "flink-batch": lambda: _flink("batch"),
    "tidemark": lambda: tidemark_on(engine="local"),
    "tidemark-batch": lambda: tidemark_on("batch", engine="local"),
    "spark": _spark,
}


if __name__ == "__main__":
    sys.exit(main())
