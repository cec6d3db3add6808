"""A warning about sources that hold back the watermarks of others while they are silent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tidemark.catalog.options import IDLE_TIMEOUT
from tidemark.plan.nodes import AssignWatermark, Node, Scan, walk


def warnings(roots: Sequence[Node]) -> Iterator[str]:
    """One for each table to which the idle timeout does not apply, though others wait for it."""
    seen = set[str]()
    for root in roots:
        followed = _followed(root)
        for table in followed if len(followed) > 1 else {}:
            if followed[table].partitioned or table in seen:
                continue
            seen.add(table)
            yield (
                f"'{IDLE_TIMEOUT}' does not apply to `{table}`, which is not a Kafka table: while "
                "it is silent, it holds back the watermarks of the other tables of the query"
            )


def _followed(root: Node) -> dict[str, Scan]:
    """The unbounded tables with watermarks, by name."""
    followed = [node for node in walk(root) if isinstance(node, AssignWatermark)]
    scans = [part for node in followed for part in walk(node) if isinstance(part, Scan)]
    return {scan.table.name: scan for scan in scans if not scan.edge.bounded}
