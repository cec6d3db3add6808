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

# Lines without a delimiter in a table `s STRING, id INT`, if errors are ignored: an empty line is a
# record whose only field is an empty string. Otherwise it lacks fields.
SHORT: dict[str, Rows] = {
    "\na,1\n": [("", None), ("a", 1)],
    "a,1\n\nb,2\n": [("a", 1), ("", None), ("b", 2)],
    "a,1\n\n": [("a", 1), ("", None)],
    "a,1\n\n\n": [("a", 1), ("", None), ("", None)],
    "\r\na,1\r\n\r\n": [("", None), ("a", 1), ("", None)],
    "a,1\n  \nb,2\n": [("a", 1), ("  ", None), ("b", 2)],
    "a,1\r\n ": [("a", 1), (" ", None)],
    "\n": [("", None)],
    "\r\n": [("", None)],
}
# The lines of a table `s STRING`.
SINGLE: dict[str, Rows] = {
    "\na\n\n": [("",), ("a",), ("",)],
    "a\r\n\r\n": [("a",), ("",)],
    "  \na": [("  ",), ("a",)],
    "": [],
    '""\n': [("",)],
    'a\n"b\nc"\nd\n': [("a",), ("b\nc",), ("d",)],
    '"a\n\nb"\n': [("a\n\nb",)],
    'a"b\na,\n': [('a"b',), ("a",)],
    'a\n\n"b ""x"""\n': [("a",), ("",), ('b "x"',)],
}

# A file of a table `a INT, b INT, s STRING`, the columns that a query reads, and the rows; None if
# the file is an error.
READ: list[tuple[str, str, Rows | None]] = [
    ("x,2,s\n", "a", None),
    ("x,2,s\n", "b s", [(2, "s")]),
    ("1,x,s\n", "a s", [(1, "s")]),
    ("1,x,s\n", "a b", None),
    ("1,2\n", "a", [(1,)]),
    ("1,2\n", "b s", [(2, None)]),
    ("1,2\n", "a b s", None),
    ("1\n", "s", [(None,)]),
    ("1\n", "b s", None),
    ("\n", "a", None),
    ("\n", "b", [(None,)]),
    ("\n", "s", [(None,)]),
    ("\n", "a b", None),
    ("1,2,s,q\n", "a", None),
    ("1,2,s,\n", "a", [(1,)]),
    ('1,2,"s"x\n', "a", None),
    ('1,2,"s\n', "a", None),
    (",2,s\n", "b", [(2,)]),
]

# A file of a table `s STRING, t STRING` that may have comments.
COMMENTED: dict[str, Rows] = {
    "  a,x\n": [("a", "x")],
    "\n  a,x\n": [("a", "x")],
    "a,x\n\nb,y\n": [("a", "x"), ("b", "y")],
    "a,x\r\n\r\nb,y\r\n": [("a", "x"), ("b", "y")],
    "a,x\n  \nb,y\n": [("a", "x"), ("b", "y")],
    "a,x\n#x\n\n#y\nb,y\n": [("a", "x"), ("b", "y")],
    "\n \r\n\r\n  #y\n  a,x\n  \n": [("a", "x")],
    "\ta,x\n": [("\ta", "x")],
    "a,x\n   ": [("a", "x")],
    "a,x\n  #x": [("a", "x")],
    "a,x\n\n\n#": [("a", "x")],
    ' "a",x\n': [("a", "x")],
    '\n "a",x\n': [("a", "x")],
    'a,x\n#\n\n"b",x\n': [("a", "x"), ("b", "x")],
    'a,x\n#q"z\nb,x\n': [("a", "x"), ("b", "x")],
    '#,"\na,"x\n\n#y"\n': [("a", "x\n\n#y")],
}
