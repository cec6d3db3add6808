"""Writes the pages that are made from the code: `make docs`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tidemark import functions
from tidemark.catalog.options import OPTIONS
from tidemark.dialect import parse_type
from tidemark.functions.registry import Function
from tidemark.functions.signatures import describe
from tidemark.spark.types import to_arrow, to_spark

DOCS = Path(__file__).resolve().parent

_OPENING = """\
# Built-in functions

Made from the function tables by `make docs`. Names are read without regard to case. A parameter in
brackets may be left out, one with dots may be repeated; `string`, `int`, `bigint` and `double` also
take what converts to them without loss.
"""


def functions_page() -> str:
    """The reference of every built-in function, by category, and of what is not there yet."""
    return "\n".join([_OPENING, *_categories(), *_not_yet()])


def _categories() -> Iterator[str]:
    distinct = {function.name: function for function in functions.BUILT_IN.values()}
    yield f"{len(distinct)} functions and operators.\n"
    by_category: dict[str, list[Function]] = {}
    for function in distinct.values():
        by_category.setdefault(function.category or "operators", []).append(function)
    for category, members in sorted(by_category.items()):
        yield f"## {category.capitalize()}\n"
        yield "| function | what it gives |\n| --- | --- |"
        yield "\n".join(_line(f) for f in sorted(members, key=lambda f: f.name)) + "\n"


def _line(function: Function) -> str:
    signatures = " or ".join(f"`{text}`" for text in describe(function).split(" or "))
    also = f" Also `{'`, `'.join(function.aliases)}`." if function.aliases else ""
    return f"| {_cell(signatures)} | {_cell(function.summary + also)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").strip()


def _not_yet() -> Iterator[str]:
    if functions.NOT_YET:
        yield "## Not yet\n"
        yield "| function | why |\n| --- | --- |"
        yield "\n".join(f"| `{n}` | {_cell(why)} |" for n, why in sorted(functions.NOT_YET.items()))


# --- types -------------------------------------------------------------------------------------

_TYPES_OPENING = """\
# Types

Made from the code by `make docs`. The same table is read both ways: a DataFrame that is registered
as a table, or a result that is handed out, has these types.

| Flink SQL | Spark | Arrow | in Python |
| --- | --- | --- | --- |"""

_TYPES_CLOSING = """
- Lengths and precisions (`CHAR(n)`, `VARCHAR(n)`, `TIMESTAMP(p)`, `TIME(p)`) are kept by the plan:
  casts cut to them. Spark counts time in microseconds, so a precision above 6 is refused.
- `TIMESTAMP` is wall-clock time without a zone. `TIMESTAMP_LTZ` is an instant, shown in the
  session's zone, `table.local-time-zone`.
- A `MULTISET` is a map from an element to how often it occurs.
- `NOT NULL` is part of a type, at any depth.
- As JSON (`tidemark run --output jsonl`) times are text with at least three digits after the
  second, decimals are text with their scale, bytes are base64, NaN and infinities are text.
"""

_EXAMPLES = {
    "BOOLEAN": "bool",
    "TINYINT": "int",
    "SMALLINT": "int",
    "INT": "int",
    "BIGINT": "int",
    "FLOAT": "float",
    "DOUBLE": "float",
    "DECIMAL(10, 2)": "decimal.Decimal",
    "CHAR(3)": "str",
    "VARCHAR(20)": "str",
    "STRING": "str",
    "BINARY(3)": "bytes",
    "BYTES": "bytes",
    "DATE": "datetime.date",
    "TIME(0)": "datetime.time",
    "TIMESTAMP(3)": "datetime.datetime without a zone",
    "TIMESTAMP_LTZ(3)": "datetime.datetime with a zone",
    "INTERVAL DAY TO SECOND": "datetime.timedelta",
    "INTERVAL YEAR TO MONTH": "int, a number of months",
    "ARRAY<INT>": "list",
    "MAP<STRING, INT>": "dict",
    "MULTISET<STRING>": "dict",
    "ROW<a INT, b STRING>": "dict",
}


def types_page() -> str:
    """Each Flink type with what it becomes in Spark, Arrow and Python."""
    rows = [
        f"| `{text}` | `{to_spark(type_).simpleString()}` | `{to_arrow(type_)}` | {python} |"
        for text, python in _EXAMPLES.items()
        for type_ in [parse_type(text)]
    ]
    return "\n".join([_TYPES_OPENING, *rows, _TYPES_CLOSING])


# --- options -----------------------------------------------------------------------------------

_OPTIONS_OPENING = """\
# Options of a session

Made from the code by `make docs`. `SET 'key' = 'value'` in a script, `--set key=value` on the
command line, `options={...}` in Python. `spark.*` keys go to Spark; keys that only Flink's own
runtime reads are accepted and change nothing, and the message of SET says so.

| key | default | what it does |
| --- | --- | --- |"""


def options_page() -> str:
    """Every session option that Tidemark knows."""
    rows = [f"| `{o.key}` | {o.default or ''} | {_cell(o.summary)} |" for o in OPTIONS]
    return "\n".join([_OPTIONS_OPENING, *rows])


PAGES = {
    DOCS / "functions.md": functions_page,
    DOCS / "options.md": options_page,
    DOCS / "types.md": types_page,
}


def main() -> None:
    for path, page in PAGES.items():
        path.write_text(page().rstrip("\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
