"""The rows that every engine generates and joins: keys and times are functions of the row number.

Only the standard library is imported here, so that the interpreter with Flink can load it too.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass

# Orders are a millisecond apart; versions are spread over the same stretch of time.
START_MS = 1_700_000_000_000
# Row numbers multiplied by one of these, modulo a prime, scatter over the keys.
ORDER_FACTOR = 2_654_435_761
VERSION_FACTOR = 2_246_822_519
PRIME = 4_294_967_311


@dataclass(frozen=True)
class Workload:
    """`left` orders, each to be joined with the version of its account at its time."""

    left: int = 10_000_000
    versions: int = 1_000_000
    keys: int = 100_000

    def __str__(self) -> str:
        return f"{self.left:,} orders, {self.versions:,} versions, {self.keys:,} keys"

    @property
    def records(self) -> int:
        return self.left + self.versions

    @property
    def version_step_ms(self) -> int:
        return max(1, self.left // self.versions)

    def order_key(self, row: str) -> str:
        """The account of an order, in SQL that both Flink and Spark understand."""
        return self._key(row, ORDER_FACTOR)

    def version_key(self, row: str) -> str:
        return self._key(row, VERSION_FACTOR)

    def _key(self, row: str, factor: int) -> str:
        # Flink's MOD has the type of the divisor.
        return f"CAST(MOD(MOD({row} * {factor}, {PRIME}), {self.keys}) AS BIGINT)"

    def order_ms(self, row: str) -> str:
        return f"{START_MS} + {row}"

    def version_ms(self, row: str) -> str:
        return f"{START_MS} + {row} * {self.version_step_ms}"

    def arguments(self) -> list[str]:
        """The command line that `parsed` understands."""
        return [f"--{name}={value}" for name, value in asdict(self).items()]


# The query that is measured. `version` is the number of the version that an order was joined with.
JOIN = """\
SELECT o.n, o.account, o.order_time, v.version
FROM orders AS o
JOIN versions FOR SYSTEM_TIME AS OF o.order_time AS v ON o.account = v.account"""


def sink(digits: int) -> str:
    """The sink; its times have the same precision as the source's, so that no engine has to
    convert any.
    """
    return f"""\
CREATE TABLE sink (n BIGINT, account BIGINT, order_time TIMESTAMP_LTZ({digits}), version BIGINT)
WITH ('connector' = 'blackhole')"""


def sequence(count: int) -> str:
    """The options of a table of numbers `n`, as fast as they can be consumed; in Flink,
    neighbors come from different tasks.
    """
    return f"""'connector' = 'datagen', 'rows-per-second' = '1000000000',
        'fields.n.kind' = 'sequence', 'fields.n.start' = '0', 'fields.n.end' = '{count - 1}'"""


def add_sizes(parser: argparse.ArgumentParser) -> None:
    usual = Workload()
    parser.add_argument("--left", type=int, default=usual.left, help="orders")
    parser.add_argument("--versions", type=int, default=usual.versions, help="versions, in all")
    parser.add_argument("--keys", type=int, default=usual.keys, help="accounts")


def sizes(arguments: argparse.Namespace) -> Workload:
    return Workload(arguments.left, arguments.versions, arguments.keys)


def parsed(command_line: Sequence[str] | None = None) -> tuple[str, Workload]:
    """How to run and the sizes, from the command line of one engine's process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("way")
    add_sizes(parser)
    arguments = parser.parse_args(command_line)
    return arguments.way, sizes(arguments)
