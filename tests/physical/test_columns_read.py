"""Which columns of a table are read for what workers compute."""

from __future__ import annotations

import pytest

from tests.physical.test_in_columns import physical
from tidemark.physical import ColumnStage, Compute, Operator, Stage
from tidemark.physical.columns_read import columns_read
from tidemark.physical.stages import walk
from tidemark.plan.nodes import Edge, Scan


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("SELECT * FROM orders", {"id", "currency", "ts"}),
        ("SELECT id + 1 FROM clocked", {"id"}),
        ("SELECT 1 FROM clocked", set()),
        ("SELECT currency FROM rates WHERE rate > 1", {"currency", "rate", "ts"}),
        ("SELECT COUNT(*) FROM orders", {"ts"}),
    ],
)
def test_columns_are_those_of_expressions_conditions_and_watermarks(query, names):
    stages = [*walk(physical(query).root)]
    [scan] = [s for s in stages if isinstance(s, Compute) and isinstance(s.node, Scan)]
    [part] = [s for s in stages if isinstance(s, ColumnStage) and scan.edge in edges(s.stage)]

    assert {scan.edge.names[place] for place in columns_read(part.stage)} == names


def edges(stage: Stage) -> list[Edge]:
    """Of the stages down to the first operator."""
    below = [] if isinstance(stage, Operator) else stage.inputs
    return [stage.edge, *(edge for each in below for edge in edges(each))]
