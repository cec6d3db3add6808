"""CSV files of a table `id INT, s STRING`, and their rows, as confirmed on Flink 2.3."""

from __future__ import annotations

from typing import Any

Rows = list[tuple[Any, ...]]

PLAIN: dict[str, Rows] = {
    "1,a\n2,b": [(1, "a"), (2, "b")],
    "1,a\r\n2,b\r\n": [(1, "a"), (2, "b")],
    '1,\n2,""\n': [(1, ""), (2, "")],
    '1,"a,b"\n': [(1, "a,b")],
    '1,"a""b"\n': [(1, 'a"b')],
    '1,"a\nb"\n2,c\n': [(1, "a\nb"), (2, "c")],
    '1,"a\r\nb"\n2,c\n': [(1, "a\r\nb"), (2, "c")],
    '1,"a\nb"\r\n2,"c"\r\n': [(1, "a\nb"), (2, "c")],
    '1,a"b\n': [(1, 'a"b')],
    '1,"a" \n': [(1, "a")],
    '1, "a"\n': [(1, ' "a"')],
    " 1 , a \n": [(1, " a ")],
    "1,a,\n": [(1, "a")],
    "1,null\n": [(1, "null")],
}

# A file, its table's options, and the rows.
STYLES: list[tuple[str, dict[str, str], Rows]] = [
    ('1,null\n2,"null"\n3,\n', {"csv__null_literal": "null"}, [(1, None), (2, None), (3, "")]),
    ("1,\n,x\n", {"csv__null_literal": ""}, [(1, None), (None, "x")]),
    ("1;a,b\n", {"csv__field_delimiter": ";"}, [(1, "a,b")]),
    ("1\ta,b\n", {"csv__field_delimiter": "\\t"}, [(1, "a,b")]),
    ("1,|a,b|\n", {"csv__quote_character": "|"}, [(1, "a,b")]),
    ('1,"a"\n', {"csv__disable_quote_character": "true"}, [(1, '"a"')]),
    (
        '1,a\\,b\n2,"a\\"b"\n3,\\n\n4,a\\\\b\n',
        {"csv__escape_character": "\\"},
        [(1, "a,b"), (2, 'a"b'), (3, "\n"), (4, "a\\b")],
    ),
    ("#1,a\n2,b\n # x\n", {"csv__allow_comments": "true"}, [(2, "b")]),
    ("1§a\n", {"csv__field_delimiter": "§"}, [(1, "a")]),
]

# A file whose first record is bad, its rows if errors are ignored, and the reason.
BAD: list[tuple[str, Rows, str]] = [
    ("1\n2,b\n", [(1, None), (2, "b")], "expected 2 fields, found 1"),
    ("1,a,zz\n2,b\n", [(2, "b")], "expected 2 fields, found 3"),
    ("1,a,,\n2,b\n", [(2, "b")], "expected 2 fields, found 4"),
    ('1,"a"x\n2,b\n', [(2, "b")], "unclosed quotes"),
    ('1,"a\n2,c\n', [], "unclosed quotes"),
    ('1, "a,b"\n', [], "expected 2 fields, found 3"),
]
