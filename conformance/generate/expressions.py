"""Random expressions over the columns of a relation, written as SQL."""

from __future__ import annotations

import re
from collections.abc import Sequence

from conformance.generate import functions
from conformance.generate.relation import Column, Draw, Kind, Relation


class Expressions:
    """Writes expressions over columns as they are called in a query."""

    def __init__(self, draw: Draw, columns: Sequence[Column], alias: str = "") -> None:
        self.draw = draw
        self._columns = columns
        self._prefix = f"{alias}." if alias else ""

    def any(self) -> tuple[str, Kind]:
        kinds: list[Kind] = ["int", "int", "decimal", "double", "string", "string", "bool", "time"]
        kind: Kind = self.draw.one([*kinds, "date", "row", "array", "instant"])
        return self.of(kind), kind

    def condition(self) -> str:
        return self.of("bool")

    def of(self, kind: Kind, depth: int = 2) -> str:
        """An expression of a kind; a column or a literal once it is deep enough."""
        if depth <= 0 or self.draw.chance(0.35):
            return self._column(kind) or self.draw.one(LITERALS[kind])
        return self._filled(self.draw.one(TEMPLATES[kind]), depth - 1)

    def _column(self, kind: str) -> str | None:
        names = [c.name for c in self._columns if kind in (c.kind, "column")]
        return self._prefix + self.draw.one(names) if names else None

    def _filled(self, template: str, depth: int) -> str:
        """The template with an expression for each `{kind}`, and a choice for each `{a|b}`."""

        def part(match: re.Match[str]) -> str:
            if "|" in match[1]:
                choice: str = self.draw.one(match[1].split("|"))
                return choice
            if match[1] == "column":
                return self._column("column") or "1"
            return self.of(match[1], depth)  # type: ignore[arg-type]  # a kind

        return re.sub(r"\{([^}]+)\}", part, template)


def over(draw: Draw, relation: Relation, alias: str = "") -> Expressions:
    return Expressions(draw, relation.columns, alias)


_LITERALS: dict[Kind, list[str]] = {
    "int": ["0", "1", "2", "3", "5", "-1"],
    "decimal": [f"CAST({number} AS DECIMAL(10, 2))" for number in ("1.5", "2.50", "-0.25")],
    "double": [f"CAST({number} AS DOUBLE)" for number in ("0.5", "2", "-1.25")],
    "string": ["'a'", "'b'", "'zz'", "''"],
    "bool": ["TRUE", "FALSE"],
    "time": [f"TIMESTAMP '2024-01-01 00:00:{second}'" for second in ("00", "05", "12", "20")],
    "date": ["DATE '2024-01-01'"],
    "array": ["ARRAY[1, 2]"],
    "row": ["CAST(ROW(7, 'r') AS ROW<a INT, b STRING>)"],
}

_TEMPLATES: dict[Kind, list[str]] = {
    "int": [
        "({int} {+|-} {int})",
        "({int} * 2)",
        "(- {int})",
        "COALESCE({int}, {int})",
        "NULLIF({int}, {int})",
        "IFNULL({int}, 0)",
        "IF({bool}, {int}, {int})",
        "CASE WHEN {bool} THEN {int} ELSE {int} END",
        "CASE WHEN {bool} THEN {int} END",
        "MOD({int}, 3)",
        "ABS({int})",
        "SIGN({int})",
        "{GREATEST|LEAST}({int}, {int})",
        "CAST({int} AS BIGINT)",
        "CAST({decimal} AS INT)",
        "CAST({double} AS INT)",
        "TRY_CAST({string} AS INT)",
        "CHAR_LENGTH({string})",
        "POSITION('a' IN {string})",
        "CAST(EXTRACT(SECOND FROM {time}) AS INT)",
        "CAST(EXTRACT(DAY FROM {date}) AS INT)",
        "TIMESTAMPDIFF(SECOND, {time}, {time})",
        "CARDINALITY({array})",
        "{array}[1]",
        "({row}).a",
    ],
    "decimal": [
        "({decimal} {+|-} {int})",
        "({decimal} * {0.5|2|1.10})",
        "({decimal} * {decimal})",
        "({decimal} / 4)",
        "ROUND({decimal}, 1)",
        "FLOOR({decimal})",
        "ABS({decimal})",
        "COALESCE({decimal}, 0)",
        "{GREATEST|LEAST}({decimal}, {decimal})",
        "CASE WHEN {bool} THEN {decimal} ELSE {int} END",
        "CAST({int} AS DECIMAL(10, 2))",
        "CAST({double} AS DECIMAL(10, 2))",
    ],
    "double": [
        "CAST({int} AS DOUBLE)",
        "({double} {+|-} {int})",
        "({double} * {decimal})",
        "ABS({double})",
        "COALESCE({double}, {int})",
        "CASE WHEN {bool} THEN {double} ELSE {decimal} END",
    ],
    "string": [
        "{UPPER|LOWER|TRIM}({string})",
        "({string} || {string})",
        "CONCAT_WS('/', {string}, {string})",
        "COALESCE({string}, '-')",
        "NULLIF({string}, 'a')",
        "SUBSTRING({string}, 1, 1)",
        "REPLACE({string}, 'a', 'x')",
        "LPAD({string}, 3, '*')",
        "SPLIT_INDEX({string}, '/', 0)",
        "GREATEST({string}, {string})",
        "CASE {string} WHEN 'a' THEN 'first' ELSE {string} END",
        "CAST({string} AS {VARCHAR(1)|CHAR(2)})",
        "CAST({int} AS STRING)",
        "CAST({decimal} AS STRING)",
        "CAST({double} AS STRING)",
        "CAST({bool} AS STRING)",
        "CAST({time} AS STRING)",
        "CAST({date} AS STRING)",
        "DATE_FORMAT({time}, 'HH:mm:ss')",
        "({row}).b",
    ],
    "bool": [
        "{int} {=|<>|<|<=|>|>=} {int}",
        "{int} {=|<>|<|<=|>|>=} {int}",
        "{decimal} {=|<>|<|>=} {decimal}",
        "{double} {=|<>|<|>=} {double}",
        "{string} {=|<>|<|>=} {string}",
        "{time} {=|<>|<|>=} {time}",
        "{date} {=|<>|<|>=} {date}",
        "{int} > {decimal}",
        "{double} <= {int}",
        "{column} IS {NOT NULL|NULL|NOT NULL}",
        "({bool} {AND|OR} {bool})",
        "(NOT {bool})",
        "({bool}) IS {TRUE|NOT TRUE|FALSE|NOT FALSE|UNKNOWN}",
        "COALESCE({bool}, FALSE)",
        "CASE WHEN {bool} THEN {bool} ELSE {bool} END",
        "{int} BETWEEN {int} AND {int}",
        "{int} IS {NOT DISTINCT|DISTINCT} FROM {int}",
        "{int} IN (1, 5, {int})",
        "{int} NOT IN (1, 5, 7)",
        "{string} {IN|NOT IN} ('a', 'b')",
        "{string} LIKE '{a%|%b|_}'",
        "{string} SIMILAR TO '(a|b)%'",
        "ARRAY_CONTAINS({array}, CAST({int} AS INT))",
    ],
    "time": [
        "({time} + INTERVAL '{1|10}' SECOND)",
        "({time} - INTERVAL '1' DAY)",
        "TIMESTAMPADD(MINUTE, 1, {time})",
        "FLOOR({time} TO MINUTE)",
        "COALESCE({time}, TIMESTAMP '2024-01-01 00:00:00')",
        "CASE WHEN {bool} THEN {time} END",
        "CAST({time} AS TIMESTAMP(3))",
        "CAST({date} AS TIMESTAMP(3))",
        "TO_TIMESTAMP(CAST({time} AS STRING))",
    ],
    "date": [
        "CAST({time} AS DATE)",
        "({date} + INTERVAL '1' DAY)",
        "COALESCE({date}, DATE '2024-01-01')",
        "CEIL({date} TO MONTH)",
    ],
    "array": ["ARRAY[{int}, {int}]"],
    "row": ["CAST(ROW({int}, {string}) AS ROW<a INT, b STRING>)"],
}


LITERALS: dict[Kind, list[str]] = {**_LITERALS, **functions.LITERALS}
TEMPLATES: dict[Kind, list[str]] = {
    kind: [*_TEMPLATES.get(kind, []), *more] for kind, more in functions.TEMPLATES.items()
}
