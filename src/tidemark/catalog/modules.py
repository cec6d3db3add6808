"""Modules of functions: there is one, `core`, with the built-in functions."""

from __future__ import annotations

from typing import Final

from tidemark.catalog import unsupported
from tidemark.dialect import statements as s
from tidemark.errors import CatalogError, did_you_mean

CORE: Final = "core"


def apply_modules(statement: s.Modules) -> str:
    """USE MODULES, LOAD MODULE or UNLOAD MODULE. Returns a one-line confirmation."""
    for name in statement.names:
        if statement.verb == "LOAD" and name == CORE:
            raise CatalogError(f"module `{CORE}` already exists", at=statement.span)
        if statement.verb == "LOAD":
            raise unsupported.MODULE.error(statement.span, name)
        if name != CORE:
            raise CatalogError(
                f"module `{name}` does not exist",
                at=statement.span,
                hint=did_you_mean(name, (CORE,)) or f"the only module is `{CORE}`",
            )
        if statement.names.count(name) > 1:
            raise CatalogError(f"module `{name}` is listed twice", at=statement.span)
    if statement.verb == "UNLOAD":
        raise unsupported.UNLOAD_CORE.error(statement.span)
    return f"module `{CORE}` is in use"
