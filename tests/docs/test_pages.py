"""The pages are true: examples run and print the output shown there, links have targets."""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import tidemark
from docs.generate import PAGES
from tests.docs.examples import Block, blocks_of, commands_of
from tidemark.cli import main
from tidemark.cli.app import invoke
from tidemark.rows import json_row
from tidemark.session.result import JobResult

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parent.parent.parent
ALL_PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "conformance/README.md",
]


# Pages whose scripts are run by a test of their own, with the servers that they need.
TUTORIALS = {
    "kafka",
    "lake",
    "mysql",
    "mysql-changes",
    "postgresql",
    "postgresql-changes",
    "sqlite",
}
# What a command reports on standard error besides its results, some of it with durations.
STATUS = re.compile(r"^(table|job) .* (created|started|finished)| · \d.* s$")


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
    workspace, blocks = tidemark.Workspace(), blocks_of(path)
    named = {word for block in blocks for words, _ in commands_of(block) for word in words}
    for block in blocks:
        if block.language != "sql" or block.role == "not run":
            continue
        if block.file_name is None:
            workspace.plan_script(block.text, name=f"{path.name}:{block.line}")
        elif block.file_name not in named and path.stem not in TUTORIALS:
            tidemark.Workspace().plan_script(block.text, name=block.file_name)


@pytest.mark.parametrize("path", ALL_PAGES, ids=page_name)
def test_commands_print_what_the_page_says(
    path: Path, spark: SparkSession, folder: Path, capfd: pytest.CaptureFixture[str]
):
    blocks = blocks_of(path)
    write_files(blocks, folder)
    for block in blocks:
        for words, output in commands_of(block) if block.runs else ():
            printed = printed_by(words, spark, capfd)
            if printed is not None and not block.varies:
                assert printed == [
                    line for line in without_blanks(output) if not STATUS.search(line)
                ]


def printed_by(
    words: list[str], spark: SparkSession, capfd: pytest.CaptureFixture[str]
) -> list[str] | None:
    """What a `tidemark` command prints, or None if it is not run."""
    capfd.readouterr()
    if words[0] == "run" and "--local" in words:
        assert invoke(words) == 0, capfd.readouterr().err
        return without_blanks(capfd.readouterr().out)
    if words[0] == "run" and words[-2:] == ["--output", "jsonl"]:
        most = int(words[words.index("--max-rows") + 1]) if "--max-rows" in words else None
        return json_lines(spark, Path(words[1]), most)
    if words[0] in ("check", "explain"):
        main(words)
        printed = capfd.readouterr()
        return without_blanks(printed.out + printed.err)
    return None


def json_lines(spark: SparkSession, script: Path, most: int | None) -> list[str]:
    """What `tidemark run SCRIPT --output jsonl` prints, without another process and its Spark."""
    session, lines = tidemark.connect(spark), []
    text = script.read_text(encoding="utf-8")
    if "'connector' = 'spark'" in text:
        # Spark looks for its own files where it was started, which a reader has just done here.
        text = text.replace("'path' = '", f"'path' = '{Path.cwd()}/")
    for result in session.run(text, name=script.name):
        if isinstance(result, JobResult):
            result.wait()
        for change in islice(result.changes(), most) if result.kind == "query" else ():
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
