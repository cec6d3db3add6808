"""Files of JSON that someone did not mean, or did mean, and what becomes of them."""

from __future__ import annotations

COLUMNS = "a INT, s STRING, r ROW<x INT>"
BEFORE = b'{"a":1}\n'


def nested(depth: int) -> bytes:
    """`depth` deep, the record's own object counted."""
    return b'{"b":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"


def string(length: int) -> bytes:
    return b'{"s":"' + b"x" * length + b'"}'


# The content of a file, and the values of `a` in it.
READ: dict[str, tuple[bytes, list[int | None]]] = {
    "an empty file": (b"", []),
    "an empty line": (b"\n" + BEFORE + b"\n", [1]),
    # Flink refuses lines of white space only.
    "a blank line": (b"  \n\t\r\n" + BEFORE, [1]),
    "no line end at the end": (b'{"a":1}\n{"a":2}', [1, 2]),
    "lines that end in CR LF": (b'{"a":1}\r\n\r\n{"a":2}\r\n', [1, 2]),
    "a byte order mark": (b"\xef\xbb\xbf" + BEFORE, [1]),
    "files with byte order marks in a row": (BEFORE + b'\xef\xbb\xbf{"a":2}\n', [1, 2]),
    "1,000 levels": (BEFORE + nested(1_000), [1, None]),
    "a name of 50,000 characters": (b'{"' + b"x" * 50_000 + b'":0,"a":1}', [1]),
    "a number of 1,000 digits that is not a column's": (b'{"b":' + b"1" * 1_000 + b',"a":1}', [1]),
    "a long string that is not a column's": (b'{"b":"' + b"x" * 20_000_001 + b'","a":1}', [1]),
    "NUL in a string": (b'{"a":1,"s":"x\x00y"}', [1]),
    "NUL after the object": (b'{"a":1}\x00', [1]),
    "text after the object": (b'{"a":1} {"a":2}', [1]),
    "an array of objects": (b'[{"a":1},{"a":2}]', [1, 2]),
    "an empty array": (b"[]\n" + BEFORE, [1]),
    "a field that comes twice": (b'{"a":1,"a":2}', [2]),
    "a field whose name differs by case": (b'{"A":1}', [None]),
    "no field": (b"{}", [None]),
    "a lone surrogate": (b'{"a":1,"s":"\\ud800"}', [1]),
}

# A record that is refused, and why.
REFUSED: dict[str, tuple[bytes, str]] = {
    "2,000 levels in a column": (b'{"a":' + nested(2_000) + b"}", "nested more than 1,000 deep"),
    "2,000 levels elsewhere": (nested(2_000), "nested more than 1,000 deep"),
    "1,001 levels": (nested(1_001), "nested more than 1,000 deep"),
    "a number of 1,500 digits": (b'{"a":' + b"1" * 1_500 + b"}", "a number has 1,500 characters"),
    "a long number elsewhere": (b'{"b":' + b"1" * 1_500 + b"}", "a number has 1,500 characters"),
    "a long name": (b'{"' + b"x" * 60_000 + b'":1}', "a name has 60,000 characters"),
    "a long string": (string(20_000_001), "a string has 20,000,001 characters; 20,000,000 is"),
    "NUL bytes": (b"\x00\x00", "not valid JSON"),
    "bytes that are not UTF-8, in a string": (b'{"s":"x\xffy"}', "not valid UTF-8"),
    "bytes that are not UTF-8, in a name": (b'{"\xff":1}', "not valid UTF-8"),
    "half a character": (b'{"s":"\xe2\x82"}', "not valid UTF-8"),
    "an array of numbers": (b"[1,2]", "not a JSON object"),
    "an array with a number": (b'[{"a":2},3]', "not a JSON object"),
    "an array with null": (b'[{"a":2},null]', "not a JSON object"),
    "a number": (b"17", "not a JSON object"),
    "a string": (b'"x"', "not a JSON object"),
    "null": (b"null", "not a JSON object"),
    "a record that is cut off": (b'{"a":2', "not valid JSON"),
    "a name without quotes": (b"{a:2}", "not valid JSON"),
    "single quotes": (b"{'a':2}", "not valid JSON"),
    "a leading zero": (b'{"a":012}', "not valid JSON"),
    "not a number": (b'{"a":NaN}', "not valid JSON: NaN is not a number"),
    "a value cut off after a tab": (b'{"s":"a\tb","a":}', "not valid JSON: Expecting value"),
    "an unknown escape": (b'{"s":"\\q"}', "not valid JSON"),
    "a number for a row": (b'{"r":1}', "does not match the type"),
}
