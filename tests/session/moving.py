"""A job that is stopped and resumed elsewhere: rows arrive in steps, each on its own Spark."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import tidemark
from tidemark.plan.nodes import Node
from tidemark.plan.planner import Plan
from tidemark.spark.frame import KIND, Frame
from tidemark.spark.handover import Handover

TABLES = """
CREATE TABLE a (k INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/a',
      'source.monitor-interval' = '1');
CREATE TABLE b (k INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts,
                PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/b',
      'source.monitor-interval' = '1');
"""
Row = tuple[int, int, int]  # k, v, and the second of ts


class MovingJob:
    """A query over the tables `a` and `b`, its checkpoint, and the rows that have come out."""

    def __init__(self, spark: Any, folder: Path, query: str, tables: str = TABLES) -> None:
        self.query = query
        self.tables = tables
        self.checkpoint = folder / "checkpoint"
        self.options: dict[str, str] = {}
        self._spark = spark
        self._folder = folder
        self._files = 0
        # By micro-batch: one that Spark runs again gives the same rows.
        self._out: dict[int, list[tuple[Any, ...]]] = {}
        for table in ("a", "b"):
            (folder / table).mkdir(parents=True)

    def step(self, partitions: int = 2, **rows: Sequence[Row]) -> Counter[tuple[Any, ...]]:
        """Start the job on so many shuffle partitions, give it rows, let it work through them
        and stop it. Returns what has come out so far: changes are applied."""
        before = self._spark.conf.get("spark.sql.shuffle.partitions")
        self._spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
        try:
            run = self.start(**rows)
            run.query.processAllAvailable()
            run.stop()
        finally:
            self._spark.conf.set("spark.sql.shuffle.partitions", before)
        return self.out()

    def start(self, **rows: Sequence[Row]) -> Any:
        """Give the job rows and start it."""
        for table, new in rows.items():
            self._write(table, new)
        session = tidemark.connect(self._spark, options=self.options, checkpoint=self.checkpoint)
        root, plan = self.planned(session)
        return session.launcher().start(root, plan, "job", self._consume)

    def planned(self, session: tidemark.Session) -> tuple[Node, Plan]:
        script = self.tables.replace("{folder}", str(self._folder)) + self.query
        plan = session.workspace.plan_script(script)[-1].plan
        assert plan is not None
        return plan.roots[0], plan

    def _consume(self, frame: Frame) -> Handover:
        def deliver(data: Any, batch: int | None, _: Callable[[], None]) -> int:
            assert batch is not None
            self._out[batch] = [_valued(row.asDict()) for row in data.collect()]
            return len(self._out[batch])

        return Handover(frame.data, deliver)

    def out(self) -> Counter[tuple[Any, ...]]:
        found: Counter[tuple[Any, ...]] = Counter()
        for _, rows in sorted(self._out.items()):
            for kind, *row in rows:
                found[tuple(row)] += -1 if kind in ("-U", "-D") else 1
        return +found

    def _write(self, table: str, rows: Sequence[Row]) -> None:
        self._files += 1
        lines = [
            json.dumps({"k": k, "v": v, "ts": f"2024-01-01 00:{s // 60:02}:{s % 60:02}"})
            for k, v, s in rows
        ]
        hidden = self._folder / table / f".{self._files:03}"
        hidden.write_text("\n".join(lines) + "\n")
        hidden.rename(self._folder / table / f"{self._files:03}.json")


def _valued(row: Mapping[str, Any]) -> tuple[Any, ...]:
    values = {name: value for name, value in row.items() if name != KIND}
    return (row.get(KIND, "+I"), *values.values())
