"""By which columns changes come in order: Flink's upsert keys.

A unique key is not enough. If a join exchanges rows by another column, and that changes, the old
row of a key is deleted in one place and its new row inserted in another, and it is unknown which
comes first.
"""

from __future__ import annotations

from tidemark import types as t
from tidemark.plan.expressions import Call, Cast, Expression, Ref
from tidemark.plan.nodes import Needs, Node, Project, Scan
from tidemark.plan.not_null import REQUIRED

Key = frozenset[int]


def upsert_keys(node: Node) -> frozenset[Key]:
    """The sets of columns by which the changes of a node's rows come in order."""
    match node:
        case Scan():
            return _unique_keys(node)
        case Project(input=below, expressions=expressions):
            return _projected(upsert_keys(below), expressions)
    needs = node.needs
    if needs is None:
        keys = _unique_keys(node) if node.inputs else frozenset()
        return keys.intersection(*map(upsert_keys, node.inputs))
    return frozenset(key for key in _unique_keys(node) if _stays_in_order(key, node, needs))


def _unique_keys(node: Node) -> frozenset[Key]:
    names = node.edge.names
    return frozenset(frozenset(names.index(column) for column in key) for key in node.edge.keys)


def _stays_in_order(key: Key, node: Node, needs: Needs) -> bool:
    """Whether an operator emits the changes of a key in order: it has all of its rows in one place,
    because it exchanges them by columns of the key, and gets those that it passes on in order.
    """
    names = {node.edge.names[place] for place in key}
    ports = [*zip(node.inputs, needs.ports, strict=True)]
    in_one_place = any(
        names.issuperset(input_.edge.names[place] for place in port.keys) for input_, port in ports
    )
    if not in_one_place and any(input_.edge.changes for input_ in node.inputs):
        return False
    return all(_comes_in_order(names, input_) for input_ in node.inputs)


def _comes_in_order(names: set[str], input_: Node) -> bool:
    """Whether changes of a key come in order, if the key is one of the input."""
    own = input_.edge.names
    if not input_.edge.changes or not names.issubset(own):
        return True
    key = frozenset(own.index(name) for name in names)
    return key not in _unique_keys(input_) or key in upsert_keys(input_)


def _projected(keys: frozenset[Key], expressions: tuple[Expression, ...]) -> frozenset[Key]:
    to: dict[int, int] = {}
    for place, expression in enumerate(expressions):
        if (ref := same_value(expression)) is not None:
            to.setdefault(ref.index, place)
    return frozenset(frozenset(to[c] for c in key) for key in keys if all(c in to for c in key))


def same_value(expression: Expression) -> Ref | None:
    """The column of which each value is another one in the expression, too."""
    match expression:
        case Ref():
            return expression
        case Call(function=function, args=(value, *_)) if function is REQUIRED:
            return same_value(value)
        case Cast(operand=operand, type=type_) if _widens(operand.type, type_):
            return same_value(operand)
    return None


def _widens(old: t.DataType, new: t.DataType) -> bool:
    families = (t.INTEGERS, t.CHARACTERS)
    if not any(isinstance(old, family) and isinstance(new, family) for family in families):
        return False
    common = t.common_type([old, new])
    return common is not None and common.same_as(new)
