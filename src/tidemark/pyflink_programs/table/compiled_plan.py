"""PyFlink's `CompiledPlan` and `PlanReference`: INSERTs as files, with all that they need."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tidemark.dialect import quoted_string
from tidemark.errors import NotSupported, TidemarkError
from tidemark.pyflink_programs.table.results import TableResult
from tidemark.pyflink_programs.table.sql_runner import SqlRunner


@dataclass(frozen=True)
class PlanReference:
    """Where a plan is: its JSON, or the file with that."""

    path: Path | None = None
    content: str | None = None

    @staticmethod
    def from_file(path: str | Path) -> PlanReference:
        return PlanReference(path=Path(path))

    @staticmethod
    def from_json_string(json_string: str) -> PlanReference:
        return PlanReference(content=json_string)

    @staticmethod
    def from_smile_bytes(smile_bytes: bytes) -> PlanReference:
        raise NotSupported("plans in Smile", hint="use from_json_string() or from_file()")

    def get_file(self) -> Path | None:
        return self.path

    def get_content(self) -> str | None:
        return self.content

    def text(self) -> str:
        if self.path is None:
            return self.content or ""
        try:
            return self.path.read_text()
        except OSError as problem:
            raise TidemarkError(
                f"cannot read the plan {self.path}: {problem.strerror}"
            ) from problem


class CompiledPlan:
    """A plan of Tidemark, not of Flink."""

    def __init__(self, text: str, runner: SqlRunner) -> None:
        self._text, self._runner = text, runner

    @staticmethod
    def of(statement: str, runner: SqlRunner) -> CompiledPlan:
        """The plan of an INSERT or a statement set."""
        with _file() as path:
            runner.run(f"COMPILE PLAN {quoted_string(str(path))} FOR {statement}")
            return CompiledPlan(path.read_text(), runner)

    def __str__(self) -> str:
        return self._text

    def as_json_string(self) -> str:
        return self._text

    def print_json_string(self) -> None:
        print(self._text, flush=True)

    def write_to_file(self, file: str | Path, ignore_if_exists: bool = False) -> None:
        path = Path(file)
        if path.exists():
            if ignore_if_exists:
                return
            raise TidemarkError(
                f"the plan {path} already exists", hint="pass ignore_if_exists=True"
            )
        path.write_text(self._text)

    def execute(self) -> TableResult:
        with _file() as path:
            path.write_text(self._text)
            return self._runner.execute(f"EXECUTE PLAN {quoted_string(str(path))}")

    def explain(self, *extra_details: str) -> str:
        return self._runner.explain(json.loads(self._text)["statement"], *extra_details)

    def print_explain(self, *extra_details: str) -> None:
        print(self.explain(*extra_details), flush=True)


@contextmanager
def _file() -> Iterator[Path]:
    with TemporaryDirectory(prefix="tidemark-plan-") as folder:
        yield Path(folder) / "plan.json"
