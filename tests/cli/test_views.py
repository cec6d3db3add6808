"""How changes are written: as a table, as JSON lines, as CSV, live."""

from __future__ import annotations

import json
from datetime import datetime

import pytest

from tests.cli.fakes import (
    FakeResult,
    change,
    colored_terminal,
    inserts,
    plain_terminal,
)
from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.cli.choices import ResultFormat
from tidemark.cli.live import Current, Newest
from tidemark.cli.terminal import Terminal
from tidemark.cli.views import choose_view, show_table
from tidemark.plan.nodes import Column

RETRACT = Changelog.RETRACT


def shown(result: FakeResult, output: ResultFormat, terminal: Terminal | None = None) -> str:
    terminal = terminal or plain_terminal()
    view = choose_view(output, result, terminal)
    view.show(list(result._changes), "")
    view.close()
    return terminal.out.getvalue()


def query(*changes, **more) -> FakeResult:
    return FakeResult("query", changes=list(changes), **more)


def test_a_bounded_table_is_aligned_and_has_no_op_column():
    text = shown(query(*inserts((1, "tide"), (1204, None))), ResultFormat.table)

    assert text == (
        "   id │ name\n"
        "──────┼──────\n"
        "    1 │ tide\n"
        " 1204 │ NULL\n"
    )  # fmt: skip


def test_a_changelog_has_an_op_column():
    text = shown(
        query(change("+I", 1, "a"), change("-D", 1, "a"), changelog=RETRACT), ResultFormat.table
    )

    assert [line.split() for line in text.splitlines()[2:]] == [
        ["+I", "│", "1", "│", "a"],
        ["-D", "│", "1", "│", "a"],
    ]


def test_a_table_without_rows_shows_its_columns():
    assert shown(query(), ResultFormat.table) == " id │ name\n────┼──────\n"


def test_wide_characters_keep_the_columns_aligned():
    text = shown(query(*inserts((1, "日本"), (2, "ab"))), ResultFormat.table)

    assert text.splitlines()[2:] == ["  1 │ 日本", "  2 │ ab"]


def test_a_cell_cannot_move_the_cursor_or_begin_a_line():
    text = shown(query(*inserts((1, "a\nb\x1b[31mc\td"))), ResultFormat.table)

    assert text.splitlines()[2] == r"  1 │ a\nb\x1b[31mc\td"


def test_a_stream_without_unicode_gets_plain_lines():
    terminal = plain_terminal()
    terminal.out.encoding = "ascii"

    text = shown(query(*inserts((1, "tide"))), ResultFormat.table, terminal)

    assert text == " id | name\n----+------\n  1 | tide\n"


def test_a_table_too_wide_for_the_screen_is_shown_as_records(monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    terminal = colored_terminal()
    terminal.out_color = False

    text = shown(query(*inserts((1, "x" * 30))), ResultFormat.table, terminal)

    assert [line.split() for line in text.splitlines()[1:]] == [["id", "1"], ["name", "x" * 30]]


def test_a_wide_table_stays_a_table_in_a_file(monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")

    text = shown(query(*inserts((1, "x" * 30))), ResultFormat.table)

    assert text.splitlines()[2] == f"  1 │ {'x' * 30}"


def test_rows_after_the_first_thousand_are_written_as_they_arrive():
    terminal = plain_terminal()
    view = choose_view(ResultFormat.table, query(), terminal)

    view.show(inserts(*((n, "x") for n in range(999))), "")
    assert terminal.out.getvalue() == ""
    view.show(inserts((999, "x")), "")
    assert terminal.out.getvalue().count("\n") == 1002
    view.show(inserts((1000, "longer than those before")), "")
    assert terminal.out.getvalue().endswith(" 1000 │ longer than those before\n")


def test_an_unbounded_query_writes_lines_where_there_is_no_screen():
    terminal = plain_terminal()
    view = choose_view(ResultFormat.table, query(endless=True), terminal)

    view.show(inserts((1, "a")), "")

    assert terminal.out.getvalue().splitlines()[2].split() == ["1", "│", "a"]


def test_colors_are_only_for_screens():
    changes = [change("+I", 1, None)]

    assert "\x1b[" not in shown(query(*changes, changelog=RETRACT), ResultFormat.table)
    assert "\x1b[32m+I" in shown(
        query(*changes, changelog=RETRACT), ResultFormat.table, colored_terminal()
    )


def test_json_lines_are_one_object_a_change():
    columns = (Column("id", t.Int()), Column("ts", t.Timestamp(3)))
    row = change("+U", 1, datetime(2024, 1, 1, 0, 0, 1), columns=columns)

    text = shown(query(row, columns=columns, changelog=RETRACT), ResultFormat.jsonl)

    assert text == '{"op": "+U", "row": {"id": 1, "ts": "2024-01-01 00:00:01.000"}}\n'


def test_json_lines_do_not_escape_unicode():
    assert '"日本\\n"' in shown(query(*inserts((1, "日本\n"))), ResultFormat.jsonl)


def test_csv_has_a_header_and_quotes_what_needs_it():
    columns = (Column("a", t.STRING), Column("b", t.Array(t.Int())), Column("c", t.Boolean()))
    rows = inserts(('say "hi", you', [1, None], True), (None, None, None), columns=columns)

    text = shown(query(*rows, columns=columns), ResultFormat.csv)

    assert text == 'a,b,c\n"say ""hi"", you","[1, null]",true\n,,\n'


def test_csv_of_a_changelog_begins_with_the_op():
    text = shown(query(change("-U", 1, "a"), changelog=RETRACT), ResultFormat.csv)

    assert text == "op,id,name\n-U,1,a\n"


def table(*texts: str) -> FakeResult:
    columns = (Column("result", t.STRING),)
    return FakeResult(
        "table", columns=columns, changes=inserts(*((x,) for x in texts), columns=columns)
    )


def test_a_multi_line_string_is_printed_unchanged():
    terminal = plain_terminal()

    show_table(table("== Logical plan ==\nScan"), ResultFormat.table, terminal)

    assert terminal.out.getvalue() == "== Logical plan ==\nScan\n"


@pytest.mark.parametrize("output", [ResultFormat.jsonl, ResultFormat.csv])
def test_machine_formats_hold_for_show_and_explain_too(output):
    terminal = plain_terminal()

    show_table(table("a\nb"), output, terminal)

    text = terminal.out.getvalue()
    if output is ResultFormat.jsonl:
        assert json.loads(text) == {"op": "+I", "row": {"result": "a\nb"}}
    else:
        assert text == 'result\n"a\nb"\n'


def test_the_newest_rows_stay_in_view():
    newest = Newest(most=2)
    for name in "abc":
        newest.apply("+I", (name,))

    assert newest.last(10) == [("b",), ("c",)]
    assert newest.last(1) == [("c",)]


def test_a_retraction_takes_one_equal_row_away():
    current = Current(key=())
    for kind, name in [
        ("+I", "a"),
        ("+I", "b"),
        ("+I", "a"),
        ("-D", "a"),
        ("-U", "b"),
        ("+U", "c"),
    ]:
        current.apply(kind, (name,))

    assert current.last(10) == [("a",), ("c",)]


def test_an_upsert_replaces_the_row_of_its_key():
    current = Current(key=[0])
    for kind, row in [
        ("+I", ("1", "a")),
        ("+I", ("2", "b")),
        ("+U", ("1", "c")),
        ("-D", ("2", "")),
    ]:
        current.apply(kind, row)

    assert current.last(10) == [("1", "c")]
