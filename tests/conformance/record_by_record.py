"""Cases with a fixed arrival order across tables: each record is a micro-batch of its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import tidemark
from conformance.case import Case, Change
from conformance.script import data_file, write_script
from tidemark.rows import json_row
from tidemark.session import sinks
from tidemark.session.changelogs import changes_of
from tidemark.spark.job_folders import JobFolders
from tidemark.spark.jobs import nothing
from tidemark.spark.stateful.end_of_input import announce_end
from tidemark.storage import Location

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession


def changes_in_order(case: Case, spark: SparkSession, folder: Path) -> list[Change]:
    """What Tidemark answers when the tables deliver one record at a time in the case's order."""
    text = write_script(case, folder).read_text(encoding="utf-8")
    for table in case.tables:
        live = folder / "live" / table.name
        live.mkdir(parents=True)
        text = text.replace(str(data_file(table, folder)), str(live))
    session = tidemark.connect(spark)
    *_, planned = session.workspace.plan_script(text, f"{case.name}.sql")
    assert planned.plan is not None
    [root] = planned.plan.roots
    built = session.launcher().built(root, True, JobFolders(spark, Location.of(folder / "job")))
    arrived: list[pa.Table] = []
    handover = sinks.collector(root.edge, "UTC", lambda table, _: arrived.append(table))(
        built.frame
    )

    ends = [*built.ends]
    steps = iter(sorted((folder / "steps").iterdir()))

    def deliver_next() -> None:
        step = next(steps, None)
        if step is not None:
            _, table, _ = step.name.split(".")
            step.rename(folder / "live" / table / step.name)
            return
        for end in ends:
            announce_end(spark, end)
        ends.clear()

    def collect(data: DataFrame, batch_id: int) -> None:
        # Spark has read what belongs to this micro-batch: what comes next is for the next one.
        deliver_next()
        handover.deliver(data, batch_id, nothing)

    writer = handover.data.writeStream.option("checkpointLocation", str(folder / "state"))
    query = writer.foreachBatch(collect).start()
    try:
        deliver_next()
        query.processAllAvailable()
        assert next(steps, None) is None
    finally:
        query.stop()
    changes = [change for table in arrived for change in changes_of(table)]
    return [(change.kind, json_row(change.row, root.edge.columns)) for change in changes]
