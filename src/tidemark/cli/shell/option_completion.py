"""Completion inside the quotes of an option: keys, and values if they are known."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tidemark.catalog.options import OPTIONS
from tidemark.connectors import registry
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.formats import FORMATS

_SETTING = re.compile(r"^\s*(?:SET|RESET)\s+'[^']*$", re.IGNORECASE)
_VALUE_OF = re.compile(r"'([^']+)'\s*=\s*'[^']*$")
_OPTION_LIST = re.compile(r"\b(?:WITH|OPTIONS)\s*\([^()]*$", re.IGNORECASE)
_CONNECTOR = re.compile(r"'connector'\s*=\s*'([^']+)'", re.IGNORECASE)
_FORMAT = re.compile(r"'format'\s*=\s*'([^']+)'", re.IGNORECASE)


def complete_option(before: str, text: str) -> Iterable[str]:
    """Suggestions for the literal that is open at the end of `before`."""
    value_of = _VALUE_OF.search(before)
    if value_of is not None:
        return _values(value_of[1].lower(), text)
    if _SETTING.match(before):
        return [option.key for option in OPTIONS]
    return _keys(text) if _OPTION_LIST.search(before) else ()


def _values(key: str, text: str) -> Iterable[str]:
    match key:
        case "connector":
            return registry.REGISTRY
        case "format":
            return FORMATS
    known = {spec.name: spec.choices for spec in _specs(text)}
    return known.get(key, ())


def _keys(text: str) -> Iterable[str]:
    return ["connector", *(spec.name for spec in _specs(text))]


def _specs(text: str) -> Iterable[OptionSpec]:
    """The options of the connector and the format named in the statement."""
    named, format_ = _CONNECTOR.search(text), _FORMAT.search(text)
    connector = registry.REGISTRY.get(named[1].lower()) if named else None
    formatted = FORMATS.get(format_[1].lower()) if format_ else None
    return [
        *(connector.options if connector else ()),
        *(formatted.options if formatted else ()),
    ]
