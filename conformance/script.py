"""A case as a SQL script and the data files that its tables read."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from conformance.case import Case, Table


def write_script(case: Case, folder: Path) -> Path:
    """Write `case.sql`, whose last statement is the query, and one data file per table."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = [_heading(case)]
    parts += [f"SET {sql_string(k)} = {sql_string(v)};" for k, v in case.settings.items()]
    for table in case.tables:
        parts.append(create_table(table, _options(table, folder)) + ";")
    parts += [f"{statement};" for statement in [*case.statements, case.final_query]]
    script = folder / "case.sql"
    script.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    if case.arrival:
        _write_steps(case, case.arrival, folder / "steps")
    return script


def _options(table: Table, folder: Path) -> dict[str, str]:
    """The options of a table, whose data is there afterwards."""
    if table.filled is not None:
        return _in_database(table, folder / "filled.db")
    write_rows(table, data_file(table, folder))
    return over_file(table, data_file(table, folder))


def _in_database(table: Table, path: Path) -> dict[str, str]:
    """The options of a table in a file of SQLite, where INSERTs replace rows by its key."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"DROP TABLE IF EXISTS {table.name}")
        connection.execute(f"CREATE TABLE {table.name} ({table.filled})")
    return {"connector": "jdbc", "url": f"jdbc:sqlite:{path}", "table-name": table.name}


def write_rows(table: Table, path: Path) -> None:
    """The table's rows in its format, in arrival order."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        if table.format == "csv":
            writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
            writer.writerows([_csv_field(value) for value in row] for row in table.rows)
        else:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in table.rows)


def over_file(table: Table, path: Path) -> dict[str, str]:
    """The options of a bounded table over its data file."""
    options = {"connector": "filesystem", "path": str(path), "format": table.format}
    if table.format == "csv":
        options["csv.null-literal"] = ""
    return options | {k: str(v) for k, v in table.options.items()}


def create_table(table: Table, options: Mapping[str, str]) -> str:
    with_ = ",\n  ".join(f"{sql_string(k)} = {sql_string(v)}" for k, v in options.items())
    columns = "\n".join("  " + line for line in table.columns.strip().split("\n"))
    return f"CREATE TABLE `{table.name}` (\n{columns}\n) WITH (\n  {with_}\n)"


def data_file(table: Table, folder: Path) -> Path:
    extension = "csv" if table.format == "csv" else "json"
    return folder / f"{table.name}.{extension}"


def sql_string(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _heading(case: Case) -> str:
    heading = f"-- {case.name}: {case.title}"
    if case.arrival:
        heading += "\n-- arrival: " + ", ".join(case.arrival)
    return heading


def _write_steps(case: Case, arrival: list[str], folder: Path) -> None:
    """One file per record in delivery order, for engines that can be fed step by step. A record
    with two changes, which are adjacent in `arrival`, is one step.
    """
    folder.mkdir(exist_ok=True)
    tables = {table.name: table for table in case.tables}
    delivered: Counter[str] = Counter()
    to_come: Counter[str] = Counter()
    for step, name in enumerate(arrival):
        if to_come[name]:
            to_come[name] -= 1
            continue
        table, position = tables[name], delivered[name]
        delivered[name] += 1
        to_come[name] = _number_of_changes(table, position) - 1
        path = folder / f"{step:04d}.{data_file(table, folder).name}"
        write_rows(replace(table, rows=table.rows[position : position + 1]), path)


def _number_of_changes(table: Table, position: int) -> int:
    """An update is two changes: the row before and the row after it."""
    return 2 if table.format == "debezium-json" and table.rows[position]["op"] == "u" else 1


def _csv_field(value: Any) -> Any:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else value
