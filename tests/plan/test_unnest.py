"""UNNEST over inputs that have fewer columns than in the query, or more."""

from tests.plan.marked import root
from tidemark.plan.expressions import references
from tidemark.plan.nodes import Node, Unnest, project, walk

QUERY = "SELECT x, c FROM t LEFT JOIN UNNEST(arr) AS z (x) ON x > a"


def _unnest(node: Node) -> Unnest:
    return next(part for part in walk(node) if isinstance(part, Unnest))


def _read(node: Unnest) -> list[str]:
    """The columns that the condition reads."""
    assert node.condition is not None
    return [node.edge.names[place] for place in sorted(references(node.condition))]


def test_only_the_columns_that_are_needed_are_copied_for_each_element():
    of_query = _unnest(root(QUERY))
    of_element = _unnest(of_query.narrowed([of_query.edge.names.index("x")]).node)

    assert of_query.edge.names == ("a", "c", "ts", "arr", "x")
    assert of_element.edge.names == ("a", "ts", "arr", "x")
    assert _read(of_query) == _read(of_element) == ["a", "x"]


def test_further_columns_of_the_input_come_before_those_of_the_element():
    before = _unnest(root(QUERY))
    edge = before.input.edge
    wider = project(before.input, [*edge.refs, edge.refs[1]], [*edge.names, "more"])
    after = before.with_inputs([wider])

    assert after.edge.names == (*edge.names, "more", "x")
    assert _read(after) == ["a", "x"]
