"""The two streams that every engine joins: keys and times are functions of the row number.

Only the standard library is imported here, so that the interpreter with Flink can load it too.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from bench.temporal_join_workload import ORDER_FACTOR, PRIME, START_MS, VERSION_FACTOR

BOUND_MS = 10_000


@dataclass(frozen=True)
class Workload:
    """`rows` per side, so dense in time that each has about `matches` matches on the other."""

    rows: int = 5_000_000
    keys: int = 100_000
    matches: float = 1.0

    @property
    def records(self) -> int:
        return 2 * self.rows

    @property
    def span_ms(self) -> int:
        """The time span of the rows: in two bounds of it each key has `matches` rows."""
        return max(1, round(2 * BOUND_MS * self.rows / (self.keys * self.matches)))

    def left_key(self, row: str) -> str:
        """The key of a left row, in SQL that both Flink and Spark understand."""
        return self._key(row, ORDER_FACTOR)

    def right_key(self, row: str) -> str:
        return self._key(row, VERSION_FACTOR)

    def _key(self, row: str, factor: int) -> str:
        # Flink's MOD has the type of the divisor.
        return f"CAST(MOD(MOD({row} * {factor}, {PRIME}), {self.keys}) AS BIGINT)"

    def milliseconds(self, row: str) -> str:
        # Whole steps and the rest of the span, so that no product overflows and no two times are
        # equal.
        step, rest = divmod(self.span_ms, self.rows)
        fraction = f"CAST(FLOOR({row} * CAST({rest} AS DOUBLE) / {self.rows}) AS BIGINT)"
        return f"{START_MS} + {row} * {step} + {fraction}"

    def arguments(self) -> list[str]:
        """The command line that `parsed` understands."""
        return [f"--{name}={value}" for name, value in asdict(self).items()]


# The query that is measured.
JOIN = f"""\
SELECT l.n AS left_row, l.account, l.ts, r.n AS right_row
FROM l JOIN r ON l.account = r.account
AND r.ts BETWEEN l.ts - INTERVAL '{BOUND_MS // 1000}' SECOND
AND l.ts + INTERVAL '{BOUND_MS // 1000}' SECOND"""


def sink(digits: int) -> str:
    """The sink; its times have the same precision as the source's, so that no engine has to
    convert any.
    """
    return f"""\
CREATE TABLE sink (left_row BIGINT, account BIGINT, ts TIMESTAMP_LTZ({digits}), right_row BIGINT)
WITH ('connector' = 'blackhole')"""


def add_sizes(parser: argparse.ArgumentParser) -> None:
    usual = Workload()
    parser.add_argument("--rows", type=int, default=usual.rows, help="rows on each side")
    parser.add_argument("--keys", type=int, default=usual.keys, help="accounts")


def parsed(command_line: Sequence[str] | None = None) -> tuple[str, Workload]:
    """How to run and the sizes, from the command line of one engine's process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("way")
    add_sizes(parser)
    parser.add_argument("--matches", type=float, default=1.0)
    arguments = parser.parse_args(command_line)
    return arguments.way, Workload(arguments.rows, arguments.keys, arguments.matches)
