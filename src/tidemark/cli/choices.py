"""The values of options that have a fixed set of them."""

from __future__ import annotations

from enum import StrEnum


class ColorChoice(StrEnum):
    auto = "auto"
    always = "always"
    never = "never"


class ResultFormat(StrEnum):
    """Output formats of results."""

    table = "table"
    jsonl = "jsonl"
    csv = "csv"


class PlanFormat(StrEnum):
    text = "text"
    mermaid = "mermaid"
    json = "json"


class CheckFormat(StrEnum):
    text = "text"
    json = "json"
