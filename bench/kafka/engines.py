"""Who takes part, and what each needs."""

from __future__ import annotations

from pathlib import Path

from bench.contest import ROOT, Contestant
from bench.kafka.workload import BACKLOG
from bench.real_bytes.report import TIDEMARK
from servers.jars.fetching import fetched

ENGINES = {
    "flink": Contestant("Flink", "bench.flink.kafka", BACKLOG),
    "tidemark": Contestant(TIDEMARK.what, "bench.kafka.tidemark_engine", BACKLOG),
}


def connector_of(contestant: Contestant) -> tuple[Path, ...]:
    """Flink's for Kafka."""
    if not contestant.is_flink:
        return ()
    return tuple(fetched(ROOT / "bench/flink/kafka_connector.xml"))
