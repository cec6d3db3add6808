"""What a query reads of the session that plans it."""

from __future__ import annotations

from tidemark import types as t
from tidemark.functions.registry import Function, SparkCall, scalar


def _of_the_planner(_: SparkCall) -> str:
    raise AssertionError("CURRENT_DATABASE is a constant when a plan runs")


FUNCTIONS: tuple[Function, ...] = (
    # The planner makes a constant of it.
    scalar(
        "CURRENT_DATABASE",
        "()",
        t.STRING.with_nullable(False),
        _of_the_planner,
        strict=False,
        category="session",
        summary="The name of the session's current database, also in a view of another one.",
    ),
)
