"""The interactive shell: what Enter does, what completes, what an error or Ctrl-C leaves alive."""

from __future__ import annotations

import os
import stat

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from pygments.token import Comment, Keyword, Name, String

from tests.cli.fakes import FakeJob, FakeResult, FakeSession, inserts, plain_terminal
from tests.cli.test_runner import interrupt_when
from tidemark.cli.interrupts import Interrupts
from tidemark.cli.runner import Display, Runner
from tidemark.cli.shell.commands import Command, read_command
from tidemark.cli.shell.completion import SqlCompleter
from tidemark.cli.shell.lexer import FlinkSqlLexer
from tidemark.cli.shell.prompt import is_finished, line_editor
from tidemark.cli.shell.repl import Shell
from tidemark.errors import JobError, PlanError
from tidemark.session.workspace import Workspace

ORDERS = """
CREATE TABLE orders (id INT, amount DECIMAL(10, 2), `order` STRING) WITH ('connector' = 'datagen');
CREATE VIEW big AS SELECT id AS big_id FROM orders;
"""


@pytest.fixture
def workspace() -> Workspace:
    workspace = Workspace()
    workspace.plan_script(ORDERS)
    return workspace


# --- what is typed -----------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["SELECT 1;", "help", "quit;", "SOURCE a.sql", "  ", "show jobs;"])
def test_enter_runs_what_is_finished(text):
    assert is_finished(text)


@pytest.mark.parametrize("text", ["SELECT 1", "SELECT ';", "BEGIN STATEMENT SET; INSERT INTO t"])
def test_enter_goes_on_with_what_is_not(text):
    assert not is_finished(text)


def typed(workspace: Workspace, tmp_path, keys: str) -> str:
    with create_pipe_input() as pipe:
        pipe.send_text(keys)
        editor = line_editor(
            workspace,
            colors=True,
            history=tmp_path / "state" / "history",
            input=pipe,
            output=DummyOutput(),
        )
        return editor.prompt()


def test_a_statement_may_have_several_lines(workspace, tmp_path):
    assert typed(workspace, tmp_path, "SELECT 1\r  AS n\r;\r") == "SELECT 1\n  AS n\n  ;"


def test_ctrl_d_leaves_and_ctrl_c_discards(workspace, tmp_path):
    with pytest.raises(EOFError):
        typed(workspace, tmp_path, "\x04")
    with pytest.raises(KeyboardInterrupt):
        typed(workspace, tmp_path, "SELECT\x03")


def test_history_is_kept_for_its_owner_only(workspace, tmp_path):
    typed(workspace, tmp_path, "SELECT 1;\r")

    history = tmp_path / "state" / "history"
    assert "SELECT 1;" in history.read_text()
    assert stat.S_IMODE(os.stat(history).st_mode) == 0o600
    assert typed(workspace, tmp_path, "\x1b[A\r") == "SELECT 1;"


# --- completion --------------------------------------------------------------------------------


def completed(workspace: Workspace, text: str, behind: str = "") -> list[str]:
    document = Document(text + behind, len(text))
    event = CompleteEvent(completion_requested=True)
    return [c.text for c in SqlCompleter(workspace).get_completions(document, event)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sel", "select"),
        ("STO", "STOP JOB"),
        ("SELECT * FROM o", "orders"),
        ("SELECT * FROM orders o JOIN b", "big"),
        ("INSERT INTO o", "orders"),
        ("DESCRIBE b", "big"),
        ("SELECT * FROM orders WHERE am", "amount"),
        ("SELECT o.am", None),
        ("SELECT orders.o", "`order`"),
        ("SELECT AB", "ABS"),
        ("select ab", "abs"),
        ("SELECT * FROM orders gr", "group by"),
        ("SET 'table.local-time", "table.local-time-zone"),
        ("CREATE TABLE t (id INT) WITH ('connector' = 'data", "datagen"),
        ("CREATE TABLE t (id INT) WITH ('connector' = 'datagen', 'rows", "rows-per-second"),
        ("SELECT 'am", None),
    ],
)
def test_completion_knows_what_is_allowed_there(workspace, text, expected):
    found = completed(workspace, text)

    assert expected in found if expected else found == []


def test_columns_of_tables_after_the_cursor_complete_by_alias(workspace):
    assert completed(workspace, "SELECT o.", " FROM orders AS o") == ["id", "amount", "`order`"]
    assert completed(workspace, "SELECT b.", " FROM orders AS o JOIN big b") == ["big_id"]


def test_nothing_is_suggested_before_something_is_typed(workspace):
    event = CompleteEvent(text_inserted=True)

    assert list(SqlCompleter(workspace).get_completions(Document("SELECT "), event)) == []


def test_the_lexer_knows_flink_s_words():
    text = "SELECT abs(`a`), 'x' FROM t FOR SYSTEM_TIME AS OF t.ts -- note\n"
    tokens = {value: kind for kind, value in FlinkSqlLexer().get_tokens(text)}

    assert tokens["SELECT"] is tokens["SYSTEM_TIME"] is Keyword
    assert tokens["abs"] is Name.Function
    assert tokens["`a`"] is Name.Variable
    assert tokens["'x'"] is String
    assert tokens["-- note"] is Comment.Single


def test_an_unfinished_string_is_highlighted_without_error():
    text = "SELECT 'never closed /* nor this\n"

    assert "".join(value for _, value in FlinkSqlLexer().get_tokens(text)) == text


# --- conversations -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("help", Command("HELP", "")),
        ("QUIT ;", Command("QUIT", "")),
        ("source 'a b.sql';", Command("SOURCE", "a b.sql")),
        ("STOP  JOB 'x1';", Command("STOP JOB", "x1")),
        ("STOP JOB 'x1' with\n savepoint;", Command("STOP JOB WITH SAVEPOINT", "x1")),
        ("SELECT 1;", None),
        ("HELPER", None),
        ("exit is a name", None),
    ],
)
def test_the_shell_s_own_commands_need_no_semicolon(text, command):
    assert read_command(text) == command


class Conversation:
    """A shell and its input."""

    def __init__(self, *results) -> None:
        self.session = FakeSession(*results)
        self.terminal = plain_terminal()
        interrupts = Interrupts()
        self.runner = Runner(self.session, self.terminal, Display(), interrupts)
        self.cleared = 0
        self.shell = Shell(self.session, self.runner, self.terminal, interrupts, clear=self._clear)

    def _clear(self) -> None:
        self.cleared += 1

    def say(self, *texts) -> None:
        lines = iter(texts)

        def read() -> str:
            text = next(lines, EOFError())
            if isinstance(text, BaseException):
                raise text
            return text

        self.shell.converse(read)

    @property
    def out(self) -> str:
        return self.terminal.out.getvalue()

    @property
    def err(self) -> str:
        return self.terminal.err.getvalue()


def test_an_error_is_reported_and_the_shell_continues():
    talk = Conversation(PlanError("table `t` does not exist"))

    talk.say("SELECT * FROM t;", "HELP", KeyboardInterrupt(), "SELECT 1;")

    assert "table `t` does not exist" in talk.err
    assert "SHOW JOBS;" in talk.out
    assert talk.session.texts == ["SELECT * FROM t;", "SELECT 1;"]


def test_quit_leaves_at_once():
    talk = Conversation()

    talk.say("quit", "SELECT 1;")

    assert talk.session.texts == []


def test_clear_clears():
    talk = Conversation()

    talk.say("clear;")

    assert talk.cleared == 1


def test_ctrl_c_stops_the_query_and_not_the_shell():
    endless = FakeResult("query", changes=inserts((1, "a")), endless=True)
    talk = Conversation(endless)
    interrupt_when(lambda: "a" in talk.out.split("\n")[-2:][0] if talk.out else False)

    talk.say("SELECT * FROM endless;", "SELECT 2;")

    assert endless.job.stopped.is_set()
    assert talk.session.texts == ["SELECT * FROM endless;", "SELECT 2;"]


def test_a_job_that_ends_is_waited_for():
    talk = Conversation(FakeResult("job", job=FakeJob(looks=2)))

    talk.say("INSERT INTO sink SELECT 1;")

    assert "job insert-into-sink finished" in talk.err


def test_an_unbounded_job_continues_in_the_background():
    job = FakeJob()
    talk = Conversation(FakeResult("job", job=job, endless=True))

    talk.say("INSERT INTO sink SELECT * FROM endless;", "SHOW JOBS;", f"STOP JOB '{job.id}';")

    assert f"it continues in the background; STOP JOB '{job.id}'; stops it" in talk.err
    assert [cell.strip() for cell in talk.out.splitlines()[2].split("│")][:4] == [
        "id-of-insert-into-sink",
        "insert-into-sink",
        "running",
        "1204",
    ]
    assert job.stopped.is_set()


def test_a_job_is_stopped_with_a_savepoint_where_savepoints_go():
    job = FakeJob()
    talk = Conversation(FakeResult("job", job=job, endless=True))
    stop = f"STOP JOB '{job.id}' WITH SAVEPOINT;"
    talk.say("INSERT INTO sink SELECT * FROM endless;", stop)
    assert "hint: SET 'execution.checkpointing.savepoint-dir' = '/a/folder'" in talk.err
    assert not job.stopped.is_set()

    talk.session.workspace.options.set("state.savepoints.dir", "/backup")
    talk.say(stop)

    assert talk.out == "/backup/savepoint\n"
    assert job.stopped.is_set()


def test_a_job_that_fails_in_the_background_is_reported_before_the_next_prompt():
    job = FakeJob(looks=4, failure=JobError("disk full"))
    talk = Conversation(FakeResult("job", job=job, endless=True))

    talk.say("INSERT INTO sink SELECT * FROM endless;", "", "", "", "")

    assert "disk full" in talk.err


def test_stopping_a_job_that_is_not_there_says_so():
    talk = Conversation()

    talk.say("STOP JOB 'x';")

    assert "unknown job 'x'\n  hint: SHOW JOBS; lists all jobs" in talk.err


def test_source_runs_a_file(tmp_path):
    script = tmp_path / "a.sql"
    script.write_text("SELECT 42;")
    talk = Conversation()

    talk.say(f"SOURCE {script};", "SOURCE nowhere.sql")

    assert talk.session.texts == ["SELECT 42;"]
    assert "file not found: nowhere.sql" in talk.err
