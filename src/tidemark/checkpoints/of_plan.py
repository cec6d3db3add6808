"""The contract that a plan would have, from the plan alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

from tidemark.checkpoints.contract import Contract, SourceTable
from tidemark.plan.kept_state import LayoutOptions, kept_state
from tidemark.plan.nodes import AssignWatermark, Node, Scan, Values, inputs, is_stateful
from tidemark.plan.nodes.state import plain

# The options of a table that say where its rows are.
_PLACES = ("path", "topic", "topic-pattern")


def contract_of(
    root: Node,
    job: str,
    options: LayoutOptions,
    *,
    key_groups: int,
    shuffle_partitions: int,
    spark: str,
) -> Contract:
    """The contract of a job that starts to run this plan now."""
    operators = kept_state(root, options)
    return Contract(
        job=job,
        key_groups=key_groups,
        shuffle_partitions=shuffle_partitions,
        operators=operators,
        sources=tuple(_sources(root, stateful=is_stateful(root))),
        spark=spark,
        retention_clock=not any(operator.forgets for operator in operators),
    )


def _sources(node: Node, *, stateful: bool, watermark: bool = False) -> Iterator[SourceTable]:
    """The tables in the order in which they are read."""
    match node:
        case Scan(table=table, edge=edge):
            path = next(filter(None, map(table.option, _PLACES)), None)
            connector = table.option("connector") or "dataframe"
            ends = edge.bounded and watermark
            yield SourceTable(str(table.identifier), connector, path, edge.bounded, ends)
        case Values(rows=rows):
            content = json.dumps(plain(rows), sort_keys=True).encode()
            name = hashlib.blake2b(content, digest_size=4).hexdigest()
            yield SourceTable(f"VALUES {name}", "values", bounded=True)
    marked = watermark or (stateful and isinstance(node, AssignWatermark))
    for below in inputs(node):
        yield from _sources(below, stateful=stateful, watermark=marked)
