"""Windows in readable form, for EXPLAIN."""

from __future__ import annotations

from tidemark.kernels.windows.spec import (
    Assigner,
    CountSliding,
    Cumulating,
    Emit,
    Firing,
    Given,
    Session,
    Sliding,
)

_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"))


def duration(milliseconds: int) -> str:
    """The length in the largest unit that divides it.

    >>> duration(90_000), duration(3_600_000), duration(1)
    ('90 s', '1 h', '1 ms')
    """
    for size, unit in _UNITS:
        if milliseconds and milliseconds % size == 0:
            return f"{milliseconds // size} {unit}"
    return f"{milliseconds} ms"


def window(assigner: Assigner) -> str:
    match assigner:
        case Sliding(size, slide, offset) if size == slide:
            return f"TUMBLE(size {duration(size)}{_offset(offset)})"
        case Sliding(size, slide, offset):
            return f"HOP(size {duration(size)}, slide {duration(slide)}{_offset(offset)})"
        case Cumulating(size, step, offset):
            return f"CUMULATE(size {duration(size)}, step {duration(step)}{_offset(offset)})"
        case Session(gap):
            return f"SESSION(gap {duration(gap)})"
        case CountSliding(size, slide) if size == slide:
            return f"TUMBLE({size} rows)"
        case CountSliding(size, slide):
            return f"HOP({size} rows, slide {slide} rows)"
        case Given(start, end):
            return f"GIVEN({start}, {end})"


def _offset(milliseconds: int) -> str:
    return f", offset {duration(milliseconds)}" if milliseconds else ""


def emit(rules: Emit) -> list[str]:
    """When results are emitted besides at the end of the window."""
    firings = [("early", rules.early), ("late", rules.late)]
    return [f"{when}=[{_firing(firing)}]" for when, firing in firings if firing is not None]


def _firing(firing: Firing) -> str:
    return "each row" if firing.every_ms is None else f"every {duration(firing.every_ms)}"
