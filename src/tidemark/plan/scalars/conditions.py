"""Conditions of WHERE and ON, taken apart."""

from __future__ import annotations

from sqlglot import exp


def flattened(condition: exp.Expression) -> list[exp.Expression]:
    """The parts of a condition that must all hold."""
    if isinstance(condition, exp.Paren):
        return flattened(condition.this)
    if isinstance(condition, exp.And):
        return [*flattened(condition.this), *flattened(condition.expression)]
    return [condition]
