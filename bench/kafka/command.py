"""Topics of one real broker: the same SQL over them by real Flink and by Tidemark on Spark.

A backlog of JSON records is read from its beginning to its end, cold and warm, as in the
measurement of files; both engines keep checkpoints. Then records come at a steady rate, and what is
measured is how long it takes until a reader has what became of each.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from bench.contest import Contestant, add_rounds, measured, typical
from bench.engine import Outcome
from bench.kafka import live
from bench.kafka.engines import ENGINES, connector_of
from bench.kafka.topics import digest, filled
from bench.kafka.workload import PARTITIONS, QUERIES, Backlog, Job
from bench.real_bytes.measuring import line
from bench.real_bytes.report import Measured, bars, kept, processors, said, times
from bench.results import keep, picture
from servers.kafka import Broker, broker


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--orders", type=int, default=5_000_000, help="and a tenth as many rates")
    for name, choices in (("queries", [*QUERIES]), ("engines", [*ENGINES])):
        parser.add_argument(f"--{name}", nargs="*", choices=choices, default=choices)
    add_rounds(parser)
    live.add_arguments(parser)


def run(arguments: argparse.Namespace, console: Console) -> int:
    with TemporaryDirectory(prefix="bench-kafka-") as folder, broker(Path(folder)) as here:
        good = _backlogs(arguments, here, console)
        engines = [ENGINES[engine] for engine in arguments.engines]
        return 0 if live.run(arguments, engines, here, console) and good else 1


def _backlogs(arguments: argparse.Namespace, here: Broker, console: Console) -> bool:
    if not arguments.queries:
        return True
    with console.status("filling topics"):
        topics = filled(here, arguments.orders)
    found: list[Measured] = []
    for query in arguments.queries:
        case = Backlog(query)
        console.rule(str(case))
        found.append(_measured(case, topics, here, arguments, console))
        # After each query: all of them take long.
        keep("kafka", {"orders": arguments.orders, "measured": kept(found)})
    console.print(times(found, "topics"))
    console.print(processors(found))
    for sentence in said(found):
        console.print(sentence)
    picture("kafka", "A backlog in Kafka, warm: times Flink's rate", bars(found), 1.0)
    return all(one.good for one in found)


def _measured(
    case: Backlog,
    topics: tuple[str, str],
    here: Broker,
    arguments: argparse.Namespace,
    console: Console,
) -> Measured:
    turns: dict[Contestant, list[Outcome]] = {ENGINES[engine]: [] for engine in arguments.engines}
    for number in range(arguments.rounds):
        for contestant, outcomes in turns.items():
            outcome = _turn(contestant, case, topics, here, checked=number == 0)
            console.print(line(contestant, outcome), highlight=False)
            rows = outcomes[0] if outcomes else outcome
            outcomes.append(Outcome(outcome.runs, rows.rows, rows.checksum))
    return Measured(case, {one: typical(outcomes) for one, outcomes in turns.items()})


def _turn(
    contestant: Contestant, case: Backlog, topics: tuple[str, str], here: Broker, *, checked: bool
) -> Outcome:
    """A process of an engine; in the first round, its rows are compared."""
    results = ["", "", *([here.topic(PARTITIONS)] if checked else [])]
    if case.asked.written:
        results = [here.topic(PARTITIONS) for _ in range(2)]
    with TemporaryDirectory(prefix="bench-kafka-") as folder:
        jars = connector_of(contestant)
        job = Job(case.query, here.address, *topics, tuple(results), Path(folder), jars)
        outcome = measured(contestant, job)
    return Outcome(outcome.runs, *digest(here, results[-1])) if checked else outcome
