"""A status line at the bottom of the terminal, redrawn in place."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO, cast

from tidemark.cli.terminal import Terminal

if TYPE_CHECKING:
    from tidemark.spark.progress import OperatorProgress, Progress

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_PLAIN_FRAMES = "|/-\\"
_ERASE = "\r\x1b[K"


class StatusLine:
    """A spinner with a message on stderr; nothing at all if it could not be erased again."""

    def __init__(self, terminal: Terminal, *, shown: bool = True) -> None:
        self._terminal = terminal
        self._shown = shown and terminal.err_is_screen
        self._visible = False
        self._lock = threading.RLock()
        self._line_is_open = False
        self._frames = _FRAMES if _takes_braille(terminal) else _PLAIN_FRAMES

    def show(self, text: str) -> None:
        if not self._shown:
            return
        frame = self._frames[int(time.monotonic() * 10) % len(self._frames)]
        room = max(10, self._terminal.width - 3)
        line = text if len(text) <= room else f"{text[: room - 1]}…"
        painted = self._terminal.paint_err(frame, "cyan")
        with self._lock:
            if self._line_is_open:
                return
            self._terminal.err.write(f"{_ERASE}{painted} {self._terminal.paint_err(line, 'dim')}")
            self._terminal.err.flush()
            self._visible = True

    def clear(self) -> None:
        with self._lock:
            if self._visible:
                self._terminal.err.write(_ERASE)
                self._terminal.err.flush()
                self._visible = False

    @contextmanager
    def below_what_is_printed(self) -> Iterator[None]:
        """While entered, what other threads print appears above the line."""
        before = sys.stdout, sys.stderr
        if self._shown:
            streams = self._terminal.out, self._terminal.err
            sys.stdout, sys.stderr = (cast(TextIO, _Above(self, stream)) for stream in streams)
        try:
            yield
        finally:
            sys.stdout, sys.stderr = before

    def write_above(self, stream: TextIO, text: str) -> int:
        with self._lock:
            self.clear()
            written = stream.write(text)
            stream.flush()
            self._line_is_open = stream.isatty() and bool(text) and not text.endswith("\n")
        return written


class _Above:
    """A stream that erases the status line before each write; the line is redrawn later."""

    def __init__(self, status: StatusLine, stream: TextIO) -> None:
        self._status = status
        self._stream = stream

    def write(self, text: str) -> int:
        return self._status.write_above(self._stream, text)

    def writelines(self, lines: Iterable[str]) -> None:
        self.write("".join(lines))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def describe_progress(progress: Progress) -> str:
    """`1,204 rows in · 1,100 out · 310/s · watermark 2024-01-01 00:00:05.000 · 3 wait`"""
    if not progress.batches and not progress.rows_in:
        return "running"
    parts = [f"{count(progress.rows_in)} in", f"{progress.rows_out:,} out"]
    if progress.rows_per_second >= 1:
        parts.append(f"{progress.rows_per_second:,.0f}/s")
    if progress.watermark is not None:
        parts.append(f"watermark {moment(progress.watermark)}")
    if progress.operators:
        parts.append(f"{sum(operator.waiting for operator in progress.operators):,} waiting")
        parts.append(size(sum(operator.state_bytes for operator in progress.operators)))
    if progress.skipped:
        parts.append(f"{progress.skipped:,} skipped")
    return " · ".join(parts)


def describe_operators(progress: Progress) -> list[str]:
    """A line for each stateful operator: the rows that went through it, and its state."""
    return [_describe_operator(operator) for operator in progress.operators]


def _describe_operator(operator: OperatorProgress) -> str:
    rows_in = " + ".join(f"{rows:,}" for rows in operator.rows_in) or "0"
    rows = "row" if operator.rows_in == (1,) else "rows"
    parts = [
        f"{rows_in} {rows} in, {operator.rows_out:,} out, {sum(operator.late):,} late",
        f"{operator.waiting:,} waiting",
        f"state {count(operator.state_rows)}, {size(operator.state_bytes)}",
    ]
    if operator.watermark is not None:
        parts.append(f"watermark {moment(operator.watermark)}")
    return f"{operator.name}: {' · '.join(parts)}"


def moment(watermark: str) -> str:
    """Spark's timestamp as `2024-01-01 00:00:05.000`, or the end of time as a word."""
    if watermark.startswith("9999-"):
        return "at the end of input"
    return watermark.replace("T", " ").removesuffix("Z")


def size(number: int) -> str:
    """`812 B`, `1.2 kB`, `48 MB`"""
    value, units = float(number), ("B", "kB", "MB", "GB", "TB")
    for unit in units:
        if value < 999.5 or unit == units[-1]:
            break
        value /= 1000
    return f"{value:.1f} {unit}" if unit != "B" and value < 9.95 else f"{value:,.0f} {unit}"


def count(number: int, noun: str = "row") -> str:
    """`1 row`, `1,204 rows`"""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """`0.4 s`, `12 s`, `3 min 05 s`, `2 h 10 min`"""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    if not minutes:
        return f"{rest} s"
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def _takes_braille(terminal: Terminal) -> bool:
    return (terminal.err.encoding or "ascii").lower().replace("-", "") == "utf8"
