"""The pages are true: examples run and print the output shown there, links have targets."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import tidemark
from docs.generate import PAGES
from tests.docs.examples import Block, blocks_of, commands_of
from tidemark.cli import main
from tidemark.rows import json_row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parent.parent.parent
ALL_PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "conformance/README.md",
]


def page_name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a page's examples run, so that they may name files as a reader would."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_files(blocks: list[Block], folder: Path) -> None:
    for block in blocks:
        if block.file_name:
            path = folder / block.file_name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")


@pytest.mark.parametrize("path", ALL_PAGES, ids=page_name)
def test_python_examples_run(
    path: Path, spark: SparkSession, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    blocks = blocks_of(path)
    write_files(blocks, folder)
    connect = tidemark.connect
    # The examples start Spark themselves; here they share the one that is running.
    monkeypatch.setattr(tidemark, "connect", lambda given=None, **more: connect(spark, **more))
    namespace: dict[str, object] = {"__name__": "example", "spark": spark}
    for block in blocks:
        if block.language == "python" and block.runs:
            # Keep the page's line numbers in tracebacks.
            code = compile("\n" * block.line + block.text, str(path), "exec")
            exec(code, namespace)


@pytest.mark.parametrize("path", ALL_PAGES, ids=page_name)
def test_sql_examples_mean_something(path: Path):
    workspace = tidemark.Workspace()
    for block in blocks_of(path):
        if block.language == "sql" and block.runs:
            workspace.plan_script(block.text, name=f"{path.name}:{block.line}")


@pytest.mark.parametrize("path", ALL_PAGES, ids=page_name)
def test_commands_print_what_the_page_says(
    path: Path, spark: SparkSession, folder: Path, capsys: pytest.CaptureFixture[str]
):
    blocks = blocks_of(path)
    write_files(blocks, folder)
    commands = [c for b in blocks if b.language == "console" and b.runs for c in commands_of(b)]
    for words, output in commands:
        if words[0] == "run" and words[-2:] == ["--output", "jsonl"]:
            assert json_lines(spark, folder / words[1]) == output.splitlines()
        elif words[0] in ("check", "explain"):
            main(words)
            printed = capsys.readouterr()
            assert without_blanks(printed.out + printed.err) == without_blanks(output)


def json_lines(spark: SparkSession, script: Path) -> list[str]:
    """What `tidemark run SCRIPT --output jsonl` prints, without another process and its Spark."""
    session, lines = tidemark.connect(spark), []
    for result in session.run(script.read_text(encoding="utf-8"), name=script.name):
        for change in result.changes() if result.kind == "query" else ():
            row = json_row(change.row, result.columns)
            lines.append(json.dumps({"op": change.kind, "row": row}, ensure_ascii=False))
    session.stop()
    return lines


def without_blanks(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("path", ALL_PAGES, ids=page_name)
def test_file_shown_on_a_page_is_the_one_in_the_repository(path: Path):
    shown = {block.file_name: block.text for block in blocks_of(path) if block.file_name}
    there = {name: text for name, text in shown.items() if (ROOT / name).exists()}
    assert [name for name, text in there.items() if (ROOT / name).read_text("utf-8") != text] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_generated_page_is_up_to_date(path: Path):
    assert path.read_text(encoding="utf-8") == PAGES[path]().rstrip("\n") + "\n", "run `make docs`"


@pytest.mark.parametrize("path", ALL_PAGES, ids=page_name)
def test_links_lead_to_files_and_headings_that_are_there(path: Path):
    links = re.findall(r"\]\(([^)#:]*)(#[^)]+)?\)", path.read_text(encoding="utf-8"))
    assert [name for name, _ in links if not (path.parent / name).exists()] == []
    pages = ((path.parent / name if name else path, anchor) for name, anchor in links if anchor)
    assert [anchor for page, anchor in pages if anchor not in anchors_of(page)] == []


@cache
def anchors_of(page: Path) -> list[str]:
    """What GitHub makes of the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    words = (re.sub(r"[^\w -]", "", heading.lower()) for heading in headings)
    return [f"#{heading.replace(' ', '-')}" for heading in words]
