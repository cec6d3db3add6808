"""An operator as a batch, over as many rows as are asked for: its seconds, and what its workers
have in memory meanwhile.

python -m bench.backfill_growth_tidemark OPERATOR --rows=ROWS --skewed=0|1

Rows are functions of their number, so that nothing is read. Skewed ones are half of one account.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass

import tidemark
from bench.engine import Run, answer_runs
from bench.processes import WORKERS, cpu_seconds, together_mb, used_since
from bench.temporal_join_workload import ORDER_FACTOR, PRIME, START_MS, VERSION_FACTOR

ACCOUNTS = 100_000
_LOOKS_PER_SECOND = 5


@dataclass(frozen=True)
class Growing:
    """How many rows come in, and whether half of them are of one account."""

    rows: int
    skewed: bool = False

    def arguments(self) -> list[str]:
        return [f"--{name}={int(value)}" for name, value in asdict(self).items()]


def parsed(command_line: Sequence[str] | None = None) -> tuple[str, Growing]:
    """The operator and its rows, from the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("operator", choices=OPERATORS)
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--skewed", type=int, default=0)
    arguments = parser.parse_args(command_line)
    return arguments.operator, Growing(arguments.rows, bool(arguments.skewed))


def main() -> None:
    operator, growing = parsed()
    with tidemark.connect() as session:
        session.sql("SET 'execution.runtime-mode' = 'batch'")
        columns, query = OPERATORS[operator](session, growing)
        session.sql(f"CREATE TABLE sink ({columns}) WITH ('connector' = 'blackhole')")
        with worker_memory() as peak:
            before, started = cpu_seconds(), time.perf_counter()
            job = session.sql(f"INSERT INTO sink {query}").job
            assert job is not None
            job.wait()
            taken = time.perf_counter() - started
        run = Run(round(taken, 3), used_since(before), {"peak_mb": max(peak)})
        answer_runs((run,), job.progress().rows_out)


@contextmanager
def worker_memory() -> Iterator[list[float]]:
    """What all Python workers together have in memory, in megabytes, looked at again and again."""
    seen, ended = [0.0], threading.Event()

    def look() -> None:
        while not ended.wait(1 / _LOOKS_PER_SECOND):
            seen.append(together_mb().get(WORKERS, 0.0))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    yield seen
    ended.set()
    thread.join()


# --- operators: the columns of their sink, and the query -----------------------------------

Asked = tuple[str, str]


def temporal_join(session: tidemark.Session, growing: Growing) -> Asked:
    """Orders, and a tenth as many versions of their accounts, ten of each."""
    versions, accounts = growing.rows // 10, growing.rows // 100
    rows(session, "orders", growing.rows, accounts, 1, 0.5 * growing.skewed)
    rows(session, "versions", versions, accounts, 0.1, 0.5 * growing.skewed, VERSION_FACTOR)
    columns = "n BIGINT, account BIGINT, ts TIMESTAMP_LTZ(6), version BIGINT"
    return columns, (
        "SELECT o.n, o.account, o.ts, v.n AS version FROM orders AS o "
        "JOIN versions FOR SYSTEM_TIME AS OF o.ts AS v ON o.account = v.account"
    )


def windows(session: tidemark.Session, growing: Growing) -> Asked:
    """An account has ten rows in each window."""
    rows(session, "records", growing.rows, ACCOUNTS, ACCOUNTS / 1000, 0.5 * growing.skewed)
    columns = (
        "account BIGINT, window_start TIMESTAMP(3), window_end TIMESTAMP(3), n BIGINT, total BIGINT"
    )
    return columns, (
        "SELECT account, window_start, window_end, COUNT(*) AS n, SUM(n) AS total "
        "FROM TABLE(TUMBLE(TABLE records, DESCRIPTOR(ts), INTERVAL '10' SECOND)) "
        "GROUP BY account, window_start, window_end"
    )


def interval_join(session: tidemark.Session, growing: Growing) -> Asked:
    """Three left rows for each right one. A left row finds one, also where accounts are skewed:
    then two of three left rows are of one account, and right rows of all accounts alike."""
    right = growing.rows // 4
    per_ms = ACCOUNTS / 20_000
    rows(session, "l", 3 * right, ACCOUNTS, 3 * per_ms, 2 / 3 * growing.skewed)
    rows(session, "r", right, ACCOUNTS, per_ms, 0, VERSION_FACTOR)
    columns = "n BIGINT, account BIGINT, ts TIMESTAMP_LTZ(6), right_row BIGINT"
    return columns, (
        "SELECT l.n, l.account, l.ts, r.n AS right_row FROM l JOIN r ON l.account = r.account "
        "AND r.ts BETWEEN l.ts - INTERVAL '10' SECOND AND l.ts + INTERVAL '10' SECOND"
    )


def group_by(session: tidemark.Session, growing: Growing) -> Asked:
    """An account has ten rows, far from each other."""
    rows(
        session, "records", growing.rows, growing.rows // 10, ACCOUNTS / 1000, 0.5 * growing.skewed
    )
    columns = "account BIGINT, n BIGINT, total BIGINT"
    query = "SELECT account, COUNT(*) AS n, SUM(n) AS total FROM records GROUP BY account"
    return columns, query


OPERATORS: dict[str, Callable[[tidemark.Session, Growing], Asked]] = {
    "temporal-join": temporal_join,
    "windows": windows,
    "interval-join": interval_join,
    "group-by": group_by,
}


def rows(
    session: tidemark.Session,
    name: str,
    count: int,
    accounts: int,
    per_ms: float,
    skewed: float,
    factor: int = ORDER_FACTOR,
) -> None:
    """A table of so many rows, of which the share in `skewed` is of account 0."""
    account = f"id * {factor} % {PRIME} % {max(accounts, 1)}"
    of_one = f"id % 6 < {round(6 * skewed)}"
    frame = session.spark.range(count).selectExpr(
        "id AS n",
        f"IF({of_one}, 0, {account}) AS account",
        f"timestamp_millis({START_MS} + CAST(id / {per_ms} AS BIGINT)) AS ts",
    )
    key = ["account"] if name == "versions" else None
    session.register(name, frame, watermark="ts", primary_key=key)


if __name__ == "__main__":
    main()
