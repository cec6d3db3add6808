"""Writes the pages that are generated from the code: `make docs`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tidemark import functions
from tidemark.catalog import unsupported as of_catalogs
from tidemark.catalog.options import OPTIONS
from tidemark.connectors import unsupported as of_connectors
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.cdc import metadata as cdc
from tidemark.connectors.filesystem.connector import FILESYSTEM
from tidemark.connectors.filesystem.table_fields import METADATA as ABOUT_FILES
from tidemark.connectors.formats import FORMATS
from tidemark.connectors.kafka.connector import KAFKA, METADATA
from tidemark.connectors.mysql_cdc import MYSQL_CDC
from tidemark.connectors.postgres_cdc import POSTGRES_CDC
from tidemark.connectors.postgres_cdc import captured as postgres_cdc
from tidemark.connectors.registry import REGISTRY
from tidemark.dialect import parse_type
from tidemark.dialect import unsupported as of_dialect
from tidemark.functions.arrow_types import to_arrow
from tidemark.functions.registry import Function, describe
from tidemark.plan import unsupported as of_plans
from tidemark.session import unsupported as of_sessions
from tidemark.spark.types import to_spark
from tidemark.types import DataType
from tidemark.unsupported import Unsupported, declared_in

DOCS = Path(__file__).resolve().parent

_OPENING = """\
# Built-in functions

Generated from the function tables by `make docs`. Function names are case-insensitive. A parameter
in brackets is optional, one with dots may be repeated; `string`, `int`, `bigint` and `double` also
accept types that convert to them without loss.
"""


def functions_page() -> str:
    """The reference of all built-in functions, by category, and of the unsupported ones."""
    return "\n".join([_OPENING, *_categories(), *_not_yet()])


def _categories() -> Iterator[str]:
    distinct = {function.name: function for function in functions.BUILT_IN.values()}
    yield f"{len(distinct)} functions and operators.\n"
    by_category: dict[str, list[Function]] = {}
    for function in distinct.values():
        by_category.setdefault(function.category or "operators", []).append(function)
    for category, members in sorted(by_category.items()):
        yield f"## {category.capitalize()}\n"
        yield "| function | result |\n| --- | --- |"
        yield "\n".join(_line(f) for f in sorted(members, key=lambda f: f.name)) + "\n"


def _line(function: Function) -> str:
    signatures = " or ".join(f"`{text}`" for text in describe(function).split(" or "))
    also = f" Also `{'`, `'.join(function.aliases)}`." if function.aliases else ""
    return f"| {_cell(signatures)} | {_cell(function.summary + also)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").strip()


def _not_yet() -> Iterator[str]:
    if functions.NOT_YET:
        yield "## Not supported\n"
        yield "| function | why |\n| --- | --- |"
        reasons = {name: declared.why or "" for name, declared in functions.NOT_YET.items()}
        yield "\n".join(f"| `{name}` | {_cell(why)} |" for name, why in sorted(reasons.items()))


# --- types -------------------------------------------------------------------------------------

_TYPES_OPENING = """\
# Types

Generated from the code by `make docs`. The table applies in both directions: to DataFrames that are
registered as tables, and to results.

| Flink SQL | Spark | Arrow | in Python |
| --- | --- | --- | --- |"""

_TYPES_CLOSING = """
- Lengths and precisions (`CHAR(n)`, `VARCHAR(n)`, `TIMESTAMP(p)`, `TIME(p)`) are kept by the plan:
  casts truncate to them. Spark's times have microseconds, so a precision above 6 is rejected.
- `TIMESTAMP` is wall-clock time without a time zone. `TIMESTAMP_LTZ` is an instant, displayed in
  the session time zone, `table.local-time-zone`.
- A `MULTISET` is a map from an element to how often it occurs.
- `NOT NULL` is part of a type, at any depth.
- As JSON (`tidemark run --output jsonl`) times are strings with at least three fractional
  digits, decimals are strings with their scale, bytes are Base64, NaN and infinities are strings.
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
# Session options

Generated from the code by `make docs`. `SET 'key' = 'value'` in a script, `--set key=value` on the
command line, `options={...}` in Python. `spark.*` keys go to Spark; keys that only Flink's own
runtime reads are accepted without effect; SET prints a note.

| key | default | what it does |
| --- | --- | --- |"""


def options_page() -> str:
    """Every session option that Tidemark knows."""
    rows = [f"| `{o.key}` | {o.default or ''} | {_cell(o.summary)} |" for o in OPTIONS]
    return "\n".join([_OPTIONS_OPENING, *rows])


# --- connectors --------------------------------------------------------------------------------

_CONNECTORS_OPENING = """\
# Options of connectors and formats

Generated from the code by `make docs`. See [Connectors and formats](connectors.md) for
how they are used.
"""


_METADATA = {
    FILESYSTEM.name: ABOUT_FILES,
    KAFKA.name: METADATA,
    POSTGRES_CDC.name: postgres_cdc.METADATA,
    MYSQL_CDC.name: cdc.METADATA,
}


def connectors_page() -> str:
    """Every connector and format with its options, and those that are not supported yet."""
    parts = [_CONNECTORS_OPENING]
    for name, connector in REGISTRY.items():
        parts += [f"## {name}\n", f"{connector.summary}\n", *_options(connector.options)]
        parts += _metadata(_METADATA.get(name, {}))
    for name, format_ in FORMATS.items():
        parts += [f"## Format {name}\n", *_options(format_.options), *_metadata(format_.metadata)]
    parts += ["## Not supported yet\n", "| name | why |\n| --- | --- |"]
    for later in (of_connectors.CONNECTOR,):
        parts += [f"| `{name}` | {_cell(later.why or '')} |" for name in later.each]
    return "\n".join(parts)


def _options(specs: Sequence[OptionSpec]) -> Iterator[str]:
    if not specs:
        yield "No options.\n"
        return
    yield "| option | type | default | what it does |\n| --- | --- | --- | --- |"
    yield "\n".join(_option(spec) for spec in specs) + "\n"


def _metadata(keys: Mapping[str, DataType]) -> Iterator[str]:
    if keys:
        yield "| metadata | type |\n| --- | --- |"
        yield ("\n".join(f"| `{key}` | `{type_.text()}` |" for key, type_ in keys.items()) + "\n")


def _option(spec: OptionSpec) -> str:
    type_ = ", ".join(f"`{choice}`" for choice in spec.choices) or spec.type
    default = "required" if spec.required else "" if spec.default is None else f"`{spec.default}`"
    summary = spec.summary.replace("](#", "](connectors.md#")
    return f"| `{spec.name}` | {type_} | {default} | {_cell(summary)} |"


# --- what is not supported -----------------------------------------------------------------------

_SQL_PAGE = DOCS / "sql.md"
_SECTION = re.compile(r"(<!-- Generated by `make docs`. -->\n).*?(<!-- End. -->)", re.DOTALL)


def sql_page() -> str:
    """The page on SQL, with what is not supported as the code declares it."""
    page = _SQL_PAGE.read_text(encoding="utf-8")
    generated = "\n".join(_unsupported())
    return _SECTION.sub(lambda found: f"{found[1]}\n{generated}\n{found[2]}", page)


def _unsupported() -> Iterator[str]:
    by_topic: dict[str, list[Unsupported]] = {}
    for feature in declared_in(of_plans, of_catalogs, of_dialect, of_connectors, of_sessions):
        by_topic.setdefault(feature.topic, []).append(feature)
    for topic, features in by_topic.items():
        yield f"### {topic}\n"
        yield "| | | why | instead |\n| --- | --- | --- | --- |"
        for feature in features:
            when = "not yet" if feature.comes_later else "no"
            for line in feature.documented():
                name, why, hint = (_cell(_escaped(part)) for part in line)
                yield f"| {name} | {when} | {why} | {hint} |"
        yield ""


def _escaped(text: str) -> str:
    return re.sub(r"([*<])", r"\\\1", text)


PAGES = {
    DOCS / "connector-options.md": connectors_page,
    DOCS / "functions.md": functions_page,
    DOCS / "options.md": options_page,
    _SQL_PAGE: sql_page,
    DOCS / "types.md": types_page,
}


def main() -> None:
    for path, page in PAGES.items():
        path.write_text(page().rstrip("\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
