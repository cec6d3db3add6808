"""The rows that every engine counts in windows: keys and times are functions of the row number.

Accounts take turns: a third of them has rows for five seconds, then none for ten, about 15 rows a
turn. So a tumbling window of ten seconds has about 15 rows of two accounts in three, and a session
with a gap of ten seconds is one turn, and ends.

Only the standard library is imported here, so that the interpreter with Flink can load it too.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from bench.temporal_join_workload import ORDER_FACTOR, PRIME, START_MS, sequence

TURN_MS = 5_000
TURNS = 3
# The watermark is a second behind: it has not passed a millisecond when its last row arrives.
DELAY_MS = 1_000


@dataclass(frozen=True)
class Kind:
    """A kind of window: Flink's function and its lengths, and Spark's."""

    function: str
    lengths: str
    spark: str
    partition: str = ""


KINDS = {
    "tumbling": Kind("TUMBLE", "INTERVAL '10' SECOND", "window(ts, '10 seconds')"),
    "sliding": Kind(
        "HOP",
        "INTERVAL '2' SECOND, INTERVAL '10' SECOND",
        "window(ts, '10 seconds', '2 seconds')",
    ),
    "session": Kind(
        "SESSION",
        "INTERVAL '10' SECOND",
        "session_window(ts, '10 seconds')",
        partition=" PARTITION BY account",
    ),
}


@dataclass(frozen=True)
class Workload:
    """`rows` of `keys` accounts, a thousandth as many each millisecond, in windows of one kind."""

    rows: int = 10_000_000
    keys: int = 100_000
    windows: str = "tumbling"

    def __post_init__(self) -> None:
        if self.keys < TURNS:
            raise SystemExit(f"accounts take {TURNS} turns: give at least as many keys")

    @property
    def kind(self) -> Kind:
        return KINDS[self.windows]

    @property
    def last_ms(self) -> int:
        """The time of the last row."""
        return START_MS + (self.rows - 1) * 1000 // self.keys

    def milliseconds(self, row: str) -> str:
        """The time of a row, in SQL that both Flink and Spark understand."""
        return f"{START_MS} + CAST(FLOOR({row} * 1E3 / {self.keys}) AS BIGINT)"

    def account(self, row: str) -> str:
        turn = f"MOD(CAST(FLOOR({row} * 1E3 / {self.keys * TURN_MS}) AS BIGINT), {TURNS})"
        # Flink's MOD has the type of the divisor.
        place = f"MOD(MOD({row} * {ORDER_FACTOR}, {PRIME}), {self.keys // TURNS})"
        return f"CAST({place} AS BIGINT) * {TURNS} + {turn}"

    def amount(self, row: str) -> str:
        return f"CAST(MOD({row}, 1000) AS BIGINT)"

    def arguments(self) -> list[str]:
        """The command line that `parsed` understands."""
        return [f"--{name}={value}" for name, value in asdict(self).items()]


def window_table(kind: Kind) -> str:
    """The query that is measured, with a window table function."""
    windows = f"TABLE records{kind.partition}, DESCRIPTOR(ts), {kind.lengths}"
    return f"""\
SELECT account, window_start, window_end, COUNT(*) AS n, SUM(amount) AS total
FROM TABLE({kind.function}({windows}))
GROUP BY account, window_start, window_end"""


def group_window(kind: Kind) -> str:
    """The same with a window in GROUP BY."""
    window = f"(ts, {kind.lengths})"
    return f"""\
SELECT account, {kind.function}_START{window}, {kind.function}_END{window},
  COUNT(*) AS n, SUM(amount) AS total
FROM records GROUP BY account, {kind.function}{window}"""


def table(workload: Workload) -> str:
    """The rows as a table, for Flink and Tidemark: numbers as fast as they can be consumed."""
    return f"""\
CREATE TABLE records (
  n BIGINT NOT NULL,
  account AS {workload.account("n")},
  amount AS {workload.amount("n")},
  ts AS TO_TIMESTAMP_LTZ({workload.milliseconds("n")}, 3),
  WATERMARK FOR ts AS ts - INTERVAL '{DELAY_MS // 1000}' SECOND
) WITH ({sequence(workload.rows)})"""


# The number of windows, and the sum of their counts.
SUMS = "COUNT(*), SUM(n)"
SINK = """\
CREATE TABLE sink (account BIGINT, window_start TIMESTAMP(3), window_end TIMESTAMP(3),
  n BIGINT, total BIGINT) WITH ('connector' = 'blackhole')"""


def add_sizes(parser: argparse.ArgumentParser) -> None:
    usual = Workload()
    parser.add_argument("--rows", type=int, default=usual.rows, help="rows, in all")
    parser.add_argument("--keys", type=int, default=usual.keys, help="accounts")


def parsed(command_line: Sequence[str] | None = None) -> tuple[str, Workload]:
    """How to run and the sizes, from the command line of one engine's process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("way")
    add_sizes(parser)
    parser.add_argument("--windows", choices=KINDS, default="tumbling")
    arguments = parser.parse_args(command_line)
    return arguments.way, Workload(arguments.rows, arguments.keys, arguments.windows)
