"""CSV files are cut between records, wherever their fields have line breaks."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tidemark.formats.csv_cut import CsvCut
from tidemark.formats.csv_exact import Scanner, without_line_end
from tidemark.formats.csv_style import Style

STYLES = {
    "plain": Style(),
    "no quotes": Style(quote=None),
    "semicolons": Style(delimiter=";", quote="'"),
    "escaped": Style(escape="\\"),
    "of several bytes": Style(delimiter="é", quote="«"),
    "with comments": Style(comments=True),
}


def by_the_record(text: str, style: Style) -> int:
    """The same, found by reading record after record: how many bytes precede the last open one."""
    scanner, start = Scanner(style), 0
    while start < len(text):
        end = scanner.end(text, start)
        record = text[start:end]
        whole = scanner.is_no_record(record)
        whole = whole or scanner.fields(without_line_end(record)) is not None
        is_open = not (whole and record.endswith("\n"))
        if end == len(text) and is_open:
            break
        start = end
    return len(text[:start].encode())


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
@given(data=st.data())
def test_it_is_cut_before_the_record_that_may_go_on(style: Style, data: st.DataObject):
    pieces = ["a", "\n", "\r\n", " ", "#", "x" * 9, style.delimiter, style.quote or '"']
    pieces += [style.escape or "\\", f"{style.delimiter}{style.quote}", f"{style.quote}\n"]
    text = "".join(data.draw(st.lists(st.sampled_from(pieces), max_size=40)))

    assert CsvCut(style)(text.encode(), True) == by_the_record(text, style)


@given(st.text('a,"\n', max_size=40))
@example('1,"a\nb"')
@example('1,"a""')
@example('"""a"\n"')
def test_quotes_are_told_apart_by_what_is_around_them(text: str):
    assert CsvCut(Style())(text.encode(), False) == by_the_record(text, Style())


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
@given(data=st.data())
def test_a_file_that_is_cut_at_any_line_has_a_record_in_each(style: Style, data: st.DataObject):
    pieces = ["a", "\n", "\r\n", " ", "#", style.delimiter, f"{style.delimiter}{style.quote}"]
    pieces += [style.quote or '"', f"{style.quote}\n", style.escape or "\\"]
    text = "".join(data.draw(st.lists(st.sampled_from(pieces), max_size=20))) + "\n"
    lines = text.encode().splitlines(keepends=True)

    if CsvCut(style).all_at_lines([text.encode()]):
        scanner, at = Scanner(style), 0
        for line in text.split("\n")[:-1]:
            at += len(line) + 1
            assert scanner.end(text, at - len(line) - 1) == at
        assert CsvCut(style).all_at_lines(lines)


def test_a_byte_order_mark_is_no_part_of_the_first_field():
    marked = '\ufeff"a\nb'.encode()

    assert CsvCut(Style())(marked, True) == 0
    assert CsvCut(Style())(marked, False) == marked.index(b"\n") + 1


@pytest.mark.parametrize(
    ("blocks", "style", "are"),
    [
        ([b"1,a\n", b"2,b\n"], Style(), True),
        ([b"1,a\n", b'2,"b ""c"""\n'], Style(), True),
        ([b"1,a\n", b'2,"b\n', b'c"\n'], Style(), False),
        ([b'1,a"b,"c\n', b'd"\n'], Style(), False),
        ([b'1,"a"\n'], Style(quote=None), True),
        ([b'"a\n', b'b"\n'], Style(), False),
        ([b'#"\n', b'1,"a"\n'], Style(comments=True), False),
        ([b"#\n", b"1,a\n"], Style(comments=True), True),
        ([b"1,a\\\n"], Style(escape="\\"), False),
        ([b"1,\xc2\xabb"], Style(quote="«"), False),
    ],
)
def test_lines_are_records_if_nothing_can_go_on_in_the_next_one(
    blocks: list[bytes], style: Style, are: bool
):
    assert CsvCut(style).all_at_lines(blocks) == are
