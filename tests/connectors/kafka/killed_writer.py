"""Writes micro-batches exactly once, and kills itself where it is told to: a process of its own.

    python killed_writer.py SERVERS TOPIC CHECKPOINT PHASE BATCH

The checkpoint is a file with the number of the next micro-batch.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

from tidemark.connectors.kafka.clients import Brokers, Producing
from tidemark.connectors.kafka.transactions import MicroBatch, write_once

BATCHES = 6
PHASES = ("sending", "sent", "committed", "committing")


def rows(batch: int) -> list[str]:
    return [f"{batch}-{n}" for n in range(100)]


def main(servers: str, topic: str, checkpoint: Path, phase: str, at: int) -> None:
    brokers = Brokers({"bootstrap.servers": servers})
    start = int(checkpoint.read_text()) if checkpoint.exists() else 0
    for batch in range(start, BATCHES):

        def send(producing: Producing, batch: int = batch) -> None:
            for number, row in enumerate(rows(batch)):
                producing.client.produce(topic, row)
                if number == 50:
                    producing.flush()
                    kill("sending", batch)
            producing.flush()
            kill("sent", batch)
            if (phase, at) == ("committing", batch):
                threading.Timer(0.002, _end).start()

        def kill(now: str, batch: int) -> None:
            if (phase, at) == (now, batch):
                _end()

        write_once(brokers, f"name-{topic}", topic, MicroBatch("query", batch), send)
        kill("committed", batch)
        hidden = checkpoint.with_suffix(".new")
        hidden.write_text(str(batch + 1))
        hidden.rename(checkpoint)


def _end() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4], int(sys.argv[5]))
