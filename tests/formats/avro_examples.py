"""A table of all types that Flink writes to Avro, and its rows in the files in `avro_of_flink`.

Flink 2.3 with flink-sql-avro 2.3.0 wrote these files from JSON with the same columns, and read back
what Tidemark makes of the rows.
"""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Final

from tidemark import types as t

FOLDER: Final = Path(__file__).parent / "avro_of_flink"

FIELDS: Final = [
    t.Field("b", t.Boolean()),
    t.Field("i1", t.TinyInt()),
    t.Field("i2", t.SmallInt()),
    t.Field("i4", t.Int()),
    t.Field("i8", t.BigInt()),
    t.Field("f4", t.Float()),
    t.Field("f8", t.Double()),
    t.Field("c", t.Char(3)),
    t.Field("s", t.STRING),
    t.Field("bi", t.Binary(3)),
    t.Field("vb", t.BYTES),
    t.Field("d", t.Decimal(10, 2)),
    t.Field("d2", t.Decimal(38, 10)),
    t.Field("dt", t.Date()),
    t.Field("tm", t.Time(3)),
    t.Field("ts0", t.Timestamp(0)),
    t.Field("ts", t.Timestamp(3)),
    t.Field("a", t.Array(t.Int())),
    t.Field("m", t.Map(t.STRING, t.BigInt())),
    t.Field(
        "r",
        t.Row(
            (
                t.Field("x", t.Int()),
                t.Field(
                    "y",
                    t.Row(
                        (
                            t.Field("z", t.VarChar(nullable=False)),
                            t.Field("w", t.Double()),
                        )
                    ),
                ),
            )
        ),
    ),
    t.Field("ar", t.Array(t.Row((t.Field("p", t.Int()), t.Field("q", t.Array(t.STRING)))))),
    t.Field("mm", t.Multiset(t.STRING)),
    t.Field("mr", t.Map(t.STRING, t.Row((t.Field("k", t.Decimal(4, 1)),)))),
    t.Field("ats", t.Array(t.Timestamp(3))),
    t.Field("nn", t.Int(nullable=False)),
]

FULL: Final = {
    "b": True,
    "i1": -1,
    "i2": 300,
    "i4": -5,
    "i8": 9007199254740993,
    "f4": 1.5,
    "f8": 2.25,
    "c": "ab",
    "s": "é",
    "bi": b"\x01\x02\x03",
    "vb": b"\xff",
    "d": Decimal("1.25"),
    "d2": Decimal("-12345678901234567890.0123456789"),
    "dt": date(1969, 12, 31),
    "tm": time(12, 34, 56, 789000),
    "ts0": datetime(2024, 1, 2, 3, 4, 5),
    "ts": datetime(1969, 12, 31, 23, 59, 59, 999000),
    "a": [1, None],
    "m": {"k": 1},
    "r": {"x": 1, "y": {"z": "z", "w": 0.5}},
    "ar": [{"p": 1, "q": ["u", None]}],
    "mm": {"e": 2},
    "mr": {"r": {"k": Decimal("2.5")}},
    "ats": [datetime(2024, 1, 1, 0, 0, 0, 123000)],
    "nn": 7,
}
ROWS: Final = [FULL, dict.fromkeys(FULL) | {"nn": 8}]
