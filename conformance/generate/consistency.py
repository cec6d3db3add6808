"""Holds Tidemark to itself: what a query over a generated query answers follows from its rows.

    python -m conformance.generate.consistency --folder F

Needs no Flink. A filter and its complements must give all rows, fewer columns the same rows, groups
their counts, and so on, whatever the planner moves, narrows or retracts below them.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from conformance.case import Case, Row
from conformance.case_file import load_cases
from conformance.compare import materialize, sort_text
from conformance.generate.engines import Answer, tidemark_on
from conformance.generate.expressions import Expressions
from conformance.generate.relation import PLAIN, Column, Draw, Kind

Bag = Counter[str]


@dataclass(frozen=True)
class Variant:
    """Queries whose rows together are those that `wanted` makes of the rows of the case."""

    name: str
    queries: list[str]
    wanted: Bag


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=[], help="names of cases")
    options = parser.parse_args(arguments)
    run = tidemark_on(engine="local")
    tried = bad = 0
    for case in load_cases(options.only, root=options.folder):
        for name, query, words in contradictions(case, run):
            bad += 1
            print(f"--- {case.path.stem} {name}\n  {query};\n    {words}", flush=True)
        tried += 1
    print(f"{tried} cases, {bad} contradictions")
    return int(bad > 0)


def contradictions(case: Case, run: Callable[[Case], Answer]) -> Iterator[tuple[str, str, str]]:
    """The variants that do not agree with the case, each with its query and what differs."""
    answer = run(case)
    if "schema" not in answer:
        return
    rows, problems = materialize([(op, row) for op, row in answer["changes"]])
    if problems:
        yield "changelog", case.query, problems[0]
        return
    columns = [Column(name, kind(type_)) for name, type_ in answer["schema"].items()]
    for variant in variants(Draw(case.path.stem), case.query, columns, rows):
        found: Bag = Counter()
        for query in variant.queries:
            part = run(replace(case, query=query))
            if "changes" not in part:
                yield variant.name, query, part.get("error") or part["crash"]
                break
            left, problems = materialize([(op, row) for op, row in part["changes"]])
            if problems:
                yield variant.name, query, problems[0]
            found += _bag(left)
        else:
            if found != variant.wanted:
                missing, extra = variant.wanted - found, found - variant.wanted
                words = f"missing {dict(missing)}, extra {dict(extra)}"
                yield variant.name, "; ".join(variant.queries), words[:1500]


def kind(type_: str) -> Kind:
    name = re.split(r"[ (<]", type_)[0]
    return _KINDS.get(name, "array")


_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT"), "int"),
    **dict.fromkeys(("CHAR", "VARCHAR", "STRING"), "string"),
    "DECIMAL": "decimal",
    "DOUBLE": "double",
    "BOOLEAN": "bool",
    "TIMESTAMP": "time",
    "TIMESTAMP_LTZ": "instant",
    "DATE": "date",
}


def variants(draw: Draw, query: str, columns: list[Column], rows: list[Row]) -> list[Variant]:
    plain = [c for c in columns if c.kind in PLAIN]
    from_ = f"FROM ({query}) AS q"
    condition = Expressions(draw, plain).condition()
    parts = [condition, f"NOT ({condition})", f"({condition}) IS NULL"]
    found = [
        Variant("partition", [f"SELECT * {from_} WHERE {p}" for p in parts], _bag(rows)),
        Variant("twice", [f"{_wrapped(query)} UNION ALL {_wrapped(query)}"], _bag(rows + rows)),
        Variant("with", [f"WITH q AS ({query}) SELECT * FROM q"], _bag(rows)),
    ]
    few = [c.name for c in draw.some(plain, 1, 2)]
    if not few:
        return found
    names, key = ", ".join(few), few[0]
    narrowed = [{name: row[name] for name in few} for row in rows]
    counted = Counter(sort_text(row) for row in narrowed)
    groups = [_row(text) | {"cnt": count} for text, count in counted.items()]
    of_key = [row[key] for row in rows]
    known = [value for value in of_key if value is not None]
    total = [{"cnt": len(rows), "known": len(known), "kinds": len(set(map(sort_text, known)))}]
    counts = f"COUNT(*) AS cnt, COUNT({key}) AS known, COUNT(DISTINCT {key}) AS kinds"
    exists = f"EXISTS (SELECT 1 FROM ({query}) AS r WHERE r.{key} = q.{key})"
    found += [
        Variant("narrowed", [f"SELECT {names} {from_}"], _bag(narrowed)),
        Variant("distinct", [f"SELECT DISTINCT {names} {from_}"], Counter(set(counted))),
        Variant(
            "union", [f"SELECT {names} {from_} UNION SELECT {names} {from_}"], Counter(set(counted))
        ),
        Variant(
            "groups", [f"SELECT {names}, COUNT(*) AS cnt {from_} GROUP BY {names}"], _bag(groups)
        ),
        Variant("counts", [f"SELECT {counts} {from_}"], _bag(total if rows else [])),
        Variant(
            "semi", [f"SELECT q.{key} {from_} WHERE {exists}"], _bag([{key: v} for v in known])
        ),
        Variant(
            "anti",
            [f"SELECT q.{key} {from_} WHERE NOT {exists}"],
            _bag([{key: v} for v in of_key if v is None]),
        ),
        Variant("except", [f"SELECT {names} {from_} EXCEPT SELECT {names} {from_}"], Counter()),
        Variant(
            "intersect all",
            [f"SELECT {names} {from_} INTERSECT ALL SELECT {names} {from_}"],
            _bag(narrowed),
        ),
    ]
    return found


def _wrapped(query: str) -> str:
    return f"SELECT * FROM ({query}) AS q"


def _bag(rows: list[Row]) -> Bag:
    return Counter(sort_text(row) for row in rows)


def _row(text: str) -> dict[str, Any]:
    import json

    row: dict[str, Any] = json.loads(text)
    return row


if __name__ == "__main__":
    sys.exit(main())
