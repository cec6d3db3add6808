"""Numeric functions whose results are defined to the last bit; those of Java's own library, such as
EXP, may differ in it.
"""

from __future__ import annotations

import math

import polars as pl

from tidemark import types as t
from tidemark.columns.call import ColumnCall, WriteColumn
from tidemark.columns.refusals import NotInColumns


def _hex(call: ColumnCall) -> pl.Expr:
    if isinstance(call.type(0), t.CHARACTERS):
        return call.args[0].str.encode("hex").str.to_uppercase()
    raise NotInColumns("HEX of a number")


COLUMNS: dict[str, WriteColumn] = {
    "SQRT": lambda call: call.args[0].sqrt(),
    "DEGREES": lambda call: call.args[0] * (180.0 / math.pi),
    "RADIANS": lambda call: call.args[0] * (math.pi / 180.0),
    "PI": lambda _: pl.lit(math.pi),
    "E": lambda _: pl.lit(math.e),
    "HEX": _hex,
    "TYPEOF": lambda call: pl.lit(str(call.type(0))),
}
