"""Case files: readable YAML, one row per line, that loads back unchanged."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import yaml

from conformance.case import CASES, COMPARE, Case, Table

REQUIRED = ("title", "area", "tables", "query", "compare")
KEYS = (
    "title", "area", "notes", "tables", "arrival", "setup", "query", "compare",
    "key", "error", "error_mentions", "expected", "flink",
)  # fmt: skip


# Ten times as fast if PyYAML was built with libyaml, as its wheels are.
_SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_SafeLoader):  # type: ignore[misc]  # chosen when imported
    """Loads times and dates as strings."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in tags if tag != "tag:yaml.org,2002:timestamp"]
    for first, tags in _SafeLoader.yaml_implicit_resolvers.items()
}


def load_cases(
    names: Iterable[str] = (), areas: Iterable[str] = (), root: Path = CASES
) -> list[Case]:
    """The cases with the given areas and names (`area/name`, `name` or a file); all by default."""
    cases = [read_case(path) for path in sorted(root.glob("*/*.yaml"))]
    wanted_areas, wanted = set(areas), [name.removesuffix(".yaml") for name in names]
    if wanted_areas:
        cases = [case for case in cases if case.area in wanted_areas]
    if wanted:
        cases = [case for case in cases if any(_is_called(case, name) for name in wanted)]
    return cases


def _is_called(case: Case, name: str) -> bool:
    return name in (case.name, case.path.stem) or Path(name).resolve() == case.path.with_suffix("")


def read_case(path: Path) -> Case:
    """The case in a file. Raises ValueError if it is not valid."""
    content = _parse(path.read_text(encoding="utf-8"))
    for key in REQUIRED:
        if key not in content:
            raise ValueError(f"{path}: no `{key}`")
    if unknown := set(content) - set(KEYS):
        raise ValueError(f"{path}: unknown `{sorted(unknown)[0]}`; known: {', '.join(KEYS)}")
    if content["compare"] not in COMPARE:
        raise ValueError(f"{path}: compare must be one of {', '.join(COMPARE)}")
    if content["area"] != path.parent.name:
        raise ValueError(f"{path}: area is {content['area']!r}, the folder {path.parent.name!r}")
    tables = [Table(**table) for table in content.pop("tables")]
    return Case(path=path, tables=tables, **content)


def write_case(case: Case) -> None:
    """Replace the case's file. Raises ValueError, and keeps the file, if YAML would lose
    something.
    """
    text = case_text(case)
    content = _parse(text)
    for key in KEYS:
        value = _content(case, key)
        if value and _comparable(content.get(key)) != _comparable(value):
            raise ValueError(f"{case.name}: `{key}` does not survive YAML")
    draft = case.path.with_suffix(".tmp")
    draft.write_text(text, encoding="utf-8")
    draft.replace(case.path)


def case_text(case: Case) -> str:
    """The case as the content of its file."""
    return "".join(
        _WRITERS.get(key, _simple)(key, _content(case, key))
        for key in KEYS
        if _content(case, key) is not None
    )


def _parse(text: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.load(text, Loader=_Loader)
    return content


def _content(case: Case, key: str) -> Any:
    """The content of a file for a key; None if there is none."""
    value = getattr(case, key)
    if key == "tables":
        return [{f.name: getattr(table, f.name) for f in fields(Table)} for table in value]
    return None if key in ("setup", "error_mentions") and not value else value


# What tables need not have in their files.
_MISSING: list[tuple[str, Any]] = [("options", {}), ("looked_up", None), ("filled", None)]


def _comparable(value: Any) -> Any:
    """A value without what block strings do not preserve: blanks at the ends of lines."""
    if isinstance(value, str):
        return "\n".join(line.rstrip() for line in value.strip("\n").rstrip().split("\n"))
    if isinstance(value, dict):
        return {str(k): _comparable(v) for k, v in value.items() if (k, v) not in _MISSING}
    if isinstance(value, list | tuple):
        return [_comparable(item) for item in value]
    return value


# --- writing, one function per shape of a value ------------------------------------------------


def _simple(key: str, value: Any) -> str:
    return f"{key}: {_flow(value)}\n"


def _text(key: str, value: str) -> str:
    if "\n" in value.strip():
        return _query(key, value)
    return f"{key}: {_flow(value.strip())}\n"


def _query(key: str, value: str) -> str:
    return f"{key}: {_block(value, '  ')}"


def _rows(key: str, value: list[Any]) -> str:
    return _items(key, value, "")


def _items(key: str, rows: list[Any], indent: str) -> str:
    if not rows:
        return f"{indent}{key}: []\n"
    return f"{indent}{key}:\n" + "".join(f"{indent}  - {_flow(row)}\n" for row in rows)


def _setup(key: str, statements: list[str]) -> str:
    lines = (
        _block(s, "    ") if "\n" in s.strip() else f"{_flow(s.strip())}\n" for s in statements
    )
    return f"{key}:\n" + "".join(f"  - {line}" for line in lines)


def _tables(key: str, tables: list[dict[str, Any]]) -> str:
    if not tables:
        return f"{key}: []\n"
    return f"{key}:\n" + "".join(line for table in tables for line in _table(table))


def _table(table: Mapping[str, Any]) -> Iterator[str]:
    yield f"  - name: {table['name']}\n"
    yield "    columns: " + _block(table["columns"], "      ")
    yield f"    format: {table['format']}\n"
    if table["options"]:
        yield f"    options: {_flow(table['options'])}\n"
    if table["looked_up"]:
        yield f"    looked_up: {_flow(table['looked_up'])}\n"
    if table["filled"]:
        yield f"    filled: {_flow(table['filled'])}\n"
    yield _items("rows", table["rows"], "    ")


def _nested(key: str, value: Mapping[str, Any]) -> str:
    return f"{key}:\n" + "".join(_entry(k, v) for k, v in value.items())


def _entry(key: str, value: Any) -> str:
    if not isinstance(value, dict) or not value:
        return f"  {key}: {_flow(value)}\n"
    return f"  {key}:\n" + "".join(f"    {_flow(k)}: {_flow(v)}\n" for k, v in value.items())


_WRITERS: dict[str, Callable[[str, Any], str]] = {
    "tables": _tables,
    "setup": _setup,
    "query": _query,
    "notes": _text,
    "error": _text,
    "expected": _rows,
    "flink": _nested,
}


def _block(text: str, indent: str) -> str:
    lines = text.strip("\n").rstrip().split("\n")
    return "|\n" + "\n".join((indent + line).rstrip() for line in lines) + "\n"


def _flow(value: Any) -> str:
    """JSON that YAML 1.1 reads back as the same value."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flow(str(k))}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    if isinstance(value, float):
        return _float(value)
    return json.dumps(value, ensure_ascii=False)


def _float(value: float) -> str:
    if math.isnan(value) or math.isinf(value):
        return json.dumps(str(value))
    # YAML 1.1 reads 1e5 as a string: it needs 1.0e+5.
    mantissa, exponent_mark, exponent = repr(value).partition("e")
    if not exponent_mark:
        return mantissa
    mantissa += "" if "." in mantissa else ".0"
    return f"{mantissa}e{exponent if exponent[0] in '+-' else '+' + exponent}"
