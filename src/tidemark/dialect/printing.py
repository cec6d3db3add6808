"""Converts typed statements and trees back to SQL."""

from __future__ import annotations

from sqlglot import exp

from tidemark.dialect.print_statement import StatementPrinter
from tidemark.dialect.print_tree import TreePrinter
from tidemark.dialect.statements import Script, Statement
from tidemark.types import DataType


def to_sql(thing: Script | Statement | exp.Expression | DataType) -> str:
    """Flink SQL that parses back to the same thing.

    Statements and queries have one clause per line; scalar expressions are on one line.
    """
    if isinstance(thing, DataType):
        return str(thing)
    if isinstance(thing, exp.Expression):
        return TreePrinter(pretty=isinstance(thing, exp.Query | exp.Values)).print(thing)
    if isinstance(thing, Script):
        return StatementPrinter().script(thing)
    return StatementPrinter().statement(thing)
