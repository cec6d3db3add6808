"""When windows emit results: the EMIT clause, and the `table.exec.emit.*` options."""

from __future__ import annotations

from dataclasses import dataclass, field

from tidemark.catalog.options import STATE_TTL, SessionOptions
from tidemark.dialect import nodes
from tidemark.dialect import statements as s
from tidemark.errors import PlanError, Span
from tidemark.kernels.windows.spec import Emit, Firing
from tidemark.plan.scalars import literals
from tidemark.types import DayTimeInterval

ALLOWED_LATENESS = "table.exec.emit.allow-lateness"


@dataclass(frozen=True, slots=True)
class EmitRules:
    """When the windows of a statement emit results.

    `clause` is the location of EMIT; without it the session's options decide.
    """

    emit: Emit = field(default_factory=Emit)
    lateness_ms: int = 0
    clause: Span | None = None

    @property
    def is_plain(self) -> bool:
        """Whether windows emit one result each, at their end."""
        return self.emit == Emit()


def emit_rules(options: SessionOptions, clause: s.EmitClause | None) -> EmitRules:
    """The rules for the windows of one statement."""
    emit = _of_clause(clause, options) if clause is not None else _of_keys(options)
    # As in Flink, allowed lateness only applies if late results are emitted.
    lateness = _lateness(options) if emit.late is not None else 0
    return EmitRules(emit, lateness, clause.span if clause is not None else None)


def _lateness(options: SessionOptions) -> int:
    """How late rows may be: the option, or else how long idle state is kept."""
    return options.milliseconds(ALLOWED_LATENESS) or options.milliseconds(STATE_TTL) or 0


# --- the clause --------------------------------------------------------------------------------


def _of_clause(clause: s.EmitClause, options: SessionOptions) -> Emit:
    early = late = None
    for strategy in clause.strategies:
        firing = _firing(_delay(strategy))
        if strategy.when in ("BEFORE", "BOTH"):
            early = firing
        if strategy.when == "AFTER":
            _check_lateness(options, "EMIT ... AFTER WATERMARK", clause.span)
        if strategy.when == "AFTER" or (strategy.when == "BOTH" and _lateness(options)):
            late = firing
    return Emit(early, late)


def _delay(strategy: s.EmitStrategy) -> int:
    if strategy.delay is None:
        return 0
    assert isinstance(strategy.delay, nodes.IntervalLiteral)
    delay = literals.interval(strategy.delay)
    if not isinstance(delay.type, DayTimeInterval) or delay.value < 0:
        raise PlanError("the delay of EMIT must be an interval such as '1' MINUTE")
    return int(delay.value)


def _firing(delay_ms: int) -> Firing:
    return Firing(every_ms=delay_ms) if delay_ms else Firing(each_row=True)


def _check_lateness(options: SessionOptions, what: str, at: Span | None) -> None:
    if not _lateness(options):
        raise PlanError(
            f"{what} requires an allowed lateness: without it, late rows are dropped",
            at=at,
            hint=f"SET '{ALLOWED_LATENESS}' = '1 h', or '{STATE_TTL}'",
        )


# --- the keys ----------------------------------------------------------------------------------


def _of_keys(options: SessionOptions) -> Emit:
    early, late = _fire(options, "early"), _fire(options, "late")
    if late is not None:
        _check_lateness(options, "'table.exec.emit.late-fire.enabled'", None)
    return Emit(early, late)


def _fire(options: SessionOptions, which: str) -> Firing | None:
    prefix = f"table.exec.emit.{which}-fire"
    if (options.get(f"{prefix}.enabled") or "").lower() != "true":
        return None
    delay = options.milliseconds(f"{prefix}.delay")
    if delay is None:
        raise PlanError(
            f"'{prefix}.enabled' requires a delay",
            hint=f"SET '{prefix}.delay' = '0 s' for a result at each row, or '1 min'",
        )
    return _firing(delay)
