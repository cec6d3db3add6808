"""The queries of Nexmark and their tables, taken from `examples/nexmark`.

Only the standard library is imported here, so that the interpreter with Flink can load it too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.real_bytes.query import Query, Wanted

EXAMPLES = Path(__file__).resolve().parents[2] / "examples/nexmark"
_SINK = re.compile(r"CREATE TABLE sink \(\n(.*?)\n\) *(PARTITIONED BY \(.*?\))? *WITH", re.DOTALL)
_SHORT_SINK = re.compile(r"CREATE TABLE sink \((.*)\) WITH")
_COMMENT = re.compile(r"^--.*\n", re.MULTILINE)
_INSERT = "INSERT INTO sink "
_NEXMARK = re.compile(r"CREATE TABLE nexmark \(\n(.*),\n  WATERMARK", re.DOTALL)
_ROW = re.compile(r"(\w+) ROW<(.*?)>", re.DOTALL)


def _statements(file: str) -> list[str]:
    text = _COMMENT.sub("", (EXAMPLES / file).read_text(encoding="utf-8"))
    return [statement.strip() for statement in text.split(";\n") if statement.strip()]


def _columns() -> str:
    found = _NEXMARK.match(_statements("tables.sql")[0])
    assert found is not None
    return found[1]


COLUMNS = _columns()
# The columns of each kind of event.
ROWS = {kind: columns.strip() for kind, columns in _ROW.findall(COLUMNS)}
VIEWS = tuple(_statements("tables.sql")[1:])

# Rows that a stream changes.
_UPDATING = {"q4", "q6", "q9", "q15", "q16", "q17", "q18", "q19"}
# How queries differ from the usual one.
_DIFFERENT: Mapping[str, Mapping[str, Any]] = {
    # Flink refuses OVER by the time of a ROW_NUMBER's rows.
    "q6": {"flink": False},
    "q10": {
        "written": True,
        "written_format": "csv",
        "sink_options": ", 'sink.partition-commit.trigger' = 'partition-time'"
        ", 'sink.partition-commit.delay' = '1 min'"
        ", 'sink.partition-commit.policy.kind' = 'success-file'"
        ", 'partition.time-extractor.timestamp-pattern' = '$dt $hm:00'",
    },
    "q11": {"flink_batch": False},
    # Which window a bid is in depends on when it is read.
    "q12": {"certain": (), "flink_batch": False},
    # Flink looks nothing up in files.
    "q13": {"flink": False},
    # Equal prices.
    "q19": {"certain": ("auction", "price", "rank_number")},
}


def _query(name: str) -> Query:
    *before, insert = _statements(f"{name}.sql")
    sinks = (_SINK.match(statement) or _SHORT_SINK.match(statement) for statement in before)
    [(columns, *partitioned)] = [sink.groups() for sink in sinks if sink]
    others = (statement for statement in before if not statement.startswith("CREATE TABLE sink "))
    return Query(
        insert.rstrip(";").removeprefix(_INSERT),
        columns.strip(),
        tables=("nexmark",),
        wanted=Wanted(warm=1.0),
        updating=name in _UPDATING,
        before=tuple(others),
        partitioned=(partitioned or [None])[0] or "",
        **_DIFFERENT.get(name, {}),
    )


_NAMES = (*(f"q{number}" for number in range(24)), *(f"cep{number}" for number in range(4)))
QUERIES = {name: _query(name) for name in _NAMES}
