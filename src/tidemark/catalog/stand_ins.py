"""Functions of Java classes that published scripts create, and Python functions instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# By the name of the class: `module.function`.
STAND_INS: Final[Mapping[str, str]] = {
    "com.github.nexmark.flink.udf.CountChar": "tidemark.connectors.nexmark.functions.count_char",
}
