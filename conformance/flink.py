"""Runs cases on real Flink, through PyFlink, and returns the schema and changelog of the result."""

from __future__ import annotations

import decimal
import math
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from conformance import databases
from conformance.case import Case, Change, Table
from conformance.script import create_table, data_file, over_file, write_rows
from conformance.slots import Slots
from conformance.values import normal_timestamp


@dataclass(frozen=True)
class Outcome:
    schema: dict[str, str]
    changes: list[Change]
    time_attributes: list[str]


class Flink:
    """One PyFlink process; every run has a table environment of its own, and a mini cluster, too,
    unless `cluster` are the settings of one that is there.
    """

    def __init__(self, cluster: Mapping[str, str] | None = None) -> None:
        os.environ.setdefault("PYFLINK_CLIENT_EXECUTABLE", sys.executable)
        import pyflink.version

        self.version: str = pyflink.version.__version__
        self._folder = Path(tempfile.mkdtemp(prefix="conformance-flink-"))
        self._slots = Slots(self._folder)
        self._runs = 0
        self._cluster = dict(cluster or {})

    def close(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def run(
        self, case: Case, order: Sequence[str] | None = None, mode: str = "streaming"
    ) -> Outcome:
        """Flink's answer. `order` names, record by record, the table that delivers next."""
        self._runs += 1
        folder = self._folder / f"run{self._runs}"
        folder.mkdir()
        settings = case.settings | (self._slots.settings() if order else {})
        environment = self.environment(settings, mode)
        streams = [table for table in case.tables if table.in_database is None]
        statements = [
            databases.stored(table, f"run{self._runs}")
            for table in case.tables
            if table.in_database is not None
        ]
        statements += self._ordered(streams, folder, order) if order else _tables(streams, folder)
        for statement in [*statements, *case.statements]:
            environment.execute_sql(statement)
        result = environment.execute_sql(case.final_query)
        outcome = collect(result, settings["table.local-time-zone"])
        shutil.rmtree(folder, ignore_errors=True)
        return outcome

    def environment(self, settings: Mapping[str, str], mode: str = "streaming") -> Any:
        """A table environment with the given options."""
        from pyflink.table import EnvironmentSettings, TableEnvironment

        made = {
            "streaming": EnvironmentSettings.in_streaming_mode,
            "batch": EnvironmentSettings.in_batch_mode,
        }
        environment = TableEnvironment.create(made[mode]())
        for key, value in {**settings, **self._cluster}.items():
            environment.get_config().set(key, value)
        return environment

    def _ordered(self, tables: Sequence[Table], folder: Path, order: Sequence[str]) -> list[str]:
        statements = [self._slots.CREATE_FUNCTION]
        for table in tables:
            path = data_file(table, folder)
            write_rows(table, path)
            gate = self._slots.gate(f"r{self._runs}", table.name, order)
            statements += _held_back(table, path, gate)
        return statements


def collect(result: Any, zone: str) -> Outcome:
    """The whole result of a query, read from its Java objects so that no type is lost."""
    table_result = result._j_table_result
    resolved = table_result.getResolvedSchema()
    names = [str(name) for name in resolved.getColumnNames()]
    types = [data_type.getLogicalType() for data_type in resolved.getColumnDataTypes()]
    summaries = [str(type_.asSummaryString()) for type_ in types]
    changes: list[Change] = []
    with closing(table_result.collect()) as rows:
        while rows.hasNext():
            row = rows.next()
            fields = (_value(row.getField(i), type_, zone) for i, type_ in enumerate(types))
            changes.append(
                (str(row.getKind().shortString()), dict(zip(names, fields, strict=True)))
            )
    plain = [re.sub(r"\s\*(ROWTIME|PROCTIME)\*", "", summary) for summary in summaries]
    times = [n for n, s in zip(names, summaries, strict=True) if "*ROWTIME*" in s]
    return Outcome(dict(zip(names, plain, strict=True)), changes, times)


def error_essence(error: BaseException) -> str:
    """The outermost and the innermost message of a Java error, without the stack trace."""
    found = _java_errors(str(error))
    if not found:
        return str(error).strip().split("\n")[0] or type(error).__name__
    lines: list[str] = []
    for name, text in (found[0], found[-1]):
        # A planner failure prints the plan with its message; keep the words.
        kept = [line.strip() for line in text.split("\n") if line.strip()]
        kept = [line for line in kept if not re.match(r"(Flink\w+\(|Logical\w+\(|[+:]-|[|])", line)]
        line = re.sub(r",? args \[rel#.*", "", f"{name}: {' '.join(kept)}")
        line = line if len(line) < 400 else line[:400] + " ..."
        if line not in lines:
            lines.append(line)
    return "\n".join(lines)


def _java_errors(trace: str) -> list[list[str]]:
    """The [class, message] pairs of a stack trace, outermost first."""
    head = re.compile(
        r"^(?:Caused by: |: )?(?:[\w$]+\.)+([\w$]*(?:Exception|Error)[\w$]*)(?:: (.*))?$"
    )
    found: list[list[str]] = []
    for line in trace.splitlines():
        if match := head.match(line.strip()):
            found.append([match[1], match[2] or ""])
        elif found and not re.match(r"^\s*(at |\.\.\. \d+ more)", line) and len(found[-1][1]) < 600:
            found[-1][1] += "\n" + line.strip()
    return found


def _tables(tables: Sequence[Table], folder: Path) -> list[str]:
    statements = []
    for table in tables:
        path = data_file(table, folder)
        write_rows(table, path)
        statements.append(create_table(table, over_file(table, path)))
    return statements


def _held_back(table: Table, path: Path, gate: Callable[[str], str]) -> list[str]:
    """The table's DDL, with each record held back until its turn: in the watermark expression if
    there is one, otherwise in a filter.
    """
    columns, found = re.subn(
        r"(WATERMARK\s+FOR\s+\S+\s+AS\s+)(.+?)(?=(?:,\s*$|\s*$|,\s*\n))",
        lambda match: match[1] + gate(match[2]),
        table.columns.strip(),
        count=1,
        flags=re.I | re.S,
    )
    if found:
        return [create_table(replace(table, columns=columns), over_file(table, path))]
    base = replace(table, name=f"{table.name}__base")
    view = f"CREATE VIEW `{table.name}` AS SELECT * FROM `{base.name}` WHERE {gate('')}"
    return [create_table(base, over_file(base, path)), view]


# --- Java values -------------------------------------------------------------------------------


def _value(value: Any, type_: Any, zone: str) -> Any:
    """A Java (or already converted) value as JSON."""
    if isinstance(value, float):
        return str(value) if math.isnan(value) or math.isinf(value) else value
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, bytes | bytearray):
        return bytes(value).hex()
    convert = _CONVERT.get(str(type_.getTypeRoot().name()))
    return convert(value, type_, zone) if convert else str(value.toString())


def _row(value: Any, type_: Any, zone: str) -> dict[str, Any]:
    names = [str(name) for name in type_.getFieldNames()]
    types = enumerate(type_.getChildren())
    fields = (_value(value.getField(i), field_type, zone) for i, field_type in types)
    return dict(zip(names, fields, strict=True))


def _array(value: Any, type_: Any, zone: str) -> list[Any]:
    return [_value(item, type_.getElementType(), zone) for item in value]


def _map(value: Any, type_: Any, zone: str) -> dict[str, Any]:
    key_type, value_type = type_.getKeyType(), type_.getValueType()
    pairs = ((_value(k, key_type, zone), _value(value.get(k), value_type, zone)) for k in value)
    return dict(sorted((str(k), v) for k, v in pairs))


def _multiset(value: Any, type_: Any, zone: str) -> dict[str, int]:
    element = type_.getElementType()
    return dict(sorted((str(_value(k, element, zone)), value.get(k)) for k in value))


def _timestamp(value: Any, _type: Any, _zone: str) -> str:
    return normal_timestamp(value.toString())


def _instant(value: Any, _type: Any, zone: str) -> str:
    from pyflink.java_gateway import get_gateway

    java_zone = get_gateway().jvm.java.time.ZoneId.of(zone)
    return normal_timestamp(value.atZone(java_zone).toLocalDateTime().toString())


def _time(value: Any, _type: Any, _zone: str) -> str:
    text = str(value.toString())
    return text if text.count(":") == 2 else f"{text}:00"


_CONVERT: dict[str, Callable[[Any, Any, str], Any]] = {
    "ROW": _row,
    "ARRAY": _array,
    "MAP": _map,
    "MULTISET": _multiset,
    "TIMESTAMP_WITHOUT_TIME_ZONE": _timestamp,
    "TIMESTAMP_WITH_LOCAL_TIME_ZONE": _instant,
    "TIME_WITHOUT_TIME_ZONE": _time,
}
