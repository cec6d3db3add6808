"""GROUP BY: which columns form a group, and the groupings of GROUPING SETS."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

from sqlglot import exp

from tidemark import functions
from tidemark import types as t
from tidemark.dialect import span_of
from tidemark.errors import PlanError
from tidemark.plan.aggregates.calls import calls_within
from tidemark.plan.expressions import Case, Expression, Literal
from tidemark.plan.nodes import Column, Node, Unnest
from tidemark.plan.scalars import literals
from tidemark.plan.scalars.binder import Binder
from tidemark.plan.scalars.conversions import apply
from tidemark.plan.scope import Scope

Set = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Grouping:
    """The key expressions without duplicates, and the sets of them that rows are grouped by."""

    keys: tuple[Expression, ...]
    sets: tuple[Set, ...]

    @property
    def is_single(self) -> bool:
        return self.sets == (tuple(range(len(self.keys))),)

    def without(self, removed: Sequence[int]) -> Grouping:
        """The grouping without these keys, which all sets contain."""
        left = [index for index in range(len(self.keys)) if index not in removed]
        place = {index: position for position, index in enumerate(left)}
        sets = tuple(tuple(place[i] for i in one if i in place) for one in self.sets)
        return Grouping(tuple(self.keys[i] for i in left), sets)


def grouping_of(elements: Sequence[exp.Expression], binder: Binder) -> Grouping:
    """The grouping in the elements of GROUP BY."""
    keys: list[Expression] = []

    def place(node: exp.Expression) -> int:
        nested = next(calls_within(node, binder.catalogs), None)
        if nested is not None:
            raise PlanError("aggregate functions are not allowed in GROUP BY", at=span_of(nested))
        bound = binder.bind(node)
        if bound not in keys:
            keys.append(bound)
        return keys.index(bound)

    alternatives = [_sets_of(element, place) for element in elements]
    together = [sum(choice, ()) for choice in product(*alternatives)]
    return Grouping(tuple(keys), tuple(tuple(sorted(set(one))) for one in together))


def _sets_of(node: exp.Expression, place: Callable[[exp.Expression], int]) -> list[Set]:
    """The sets that one element of GROUP BY represents."""
    match node:
        case exp.GroupingSets():
            return [one for element in node.expressions for one in _sets_of(element, place)]
        case exp.Rollup():
            parts = [_set_of(part, place) for part in node.expressions]
            return _once(sum(parts[:length], ()) for length in range(len(parts), -1, -1))
        case exp.Cube():
            parts = [_set_of(part, place) for part in node.expressions]
            lengths = range(len(parts), -1, -1)
            chosen = (some for length in lengths for some in combinations(parts, length))
            return _once(sum(some, ()) for some in chosen)
    return [_set_of(node, place)]


def _once(sets: Iterable[Set]) -> list[Set]:
    """The sets of one ROLLUP or CUBE. Equal ones are one, unlike those of GROUPING SETS."""
    return list({frozenset(one): one for one in sets}.values())


def _set_of(node: exp.Expression, place: Callable[[exp.Expression], int]) -> Set:
    if isinstance(node, exp.Tuple):
        return tuple(place(part) for part in node.expressions)
    return (place(node),)


# --- several groupings at once -----------------------------------------------------------------


def expanded(node: Node, keys: Sequence[int], sets: Sequence[Set]) -> Node:
    """Each row once per grouping set, followed by the keys, NULL if not in the set, and the
    set's number. A key of all sets is as nullable as it was.
    """
    scope = Scope.of(node.edge)
    at = exp.Null()
    types = [
        _type(node, key)
        if all(place in one for one in sets)
        else _type(node, key).with_nullable(True)
        for place, key in enumerate(keys)
    ]
    rows = [
        apply(
            functions.BUILT_IN["ROW"],
            [
                *(
                    replace(scope.ref(key), type=types[place])
                    if place in one
                    else literals.null(types[place])
                    for place, key in enumerate(keys)
                ),
                Literal(number, t.Int(nullable=False)),
            ],
            at,
        )
        for number, one in enumerate(sets)
    ]
    collection = apply(functions.BUILT_IN["ARRAY"], rows, at)
    added = (
        *(Column(node.edge.names[key], type_) for key, type_ in zip(keys, types, strict=True)),
        Column("$set", t.Int(nullable=False)),
    )
    return Unnest(node, collection, added)


def _type(node: Node, column: int) -> t.DataType:
    return node.edge.columns[column].type


def grouping_number(
    written: exp.Expression, asked: Sequence[int], grouping: Grouping, number: Expression
) -> Expression:
    """GROUPING(a, b): a bit for each of the keys, set if the row's grouping set does not contain
    it.

    `number` is the set's number.
    """
    return _of_set(written, [_bits(asked, one) for one in grouping.sets], number)


def repetition_number(
    written: exp.Expression, grouping: Grouping, number: Expression
) -> Expression:
    """GROUP_ID(): how often the row's grouping set came before among the sets."""
    sets = grouping.sets
    return _of_set(written, [sets[:place].count(one) for place, one in enumerate(sets)], number)


def _of_set(written: exp.Expression, values: Sequence[int], number: Expression) -> Expression:
    """The value for the grouping set of this number."""
    type_ = t.BigInt(nullable=False)
    if len(set(values)) == 1:
        return Literal(values[0], type_)
    branches = tuple(
        (
            apply(
                functions.BUILT_IN["="],
                [number, Literal(place, t.Int(nullable=False))],
                written,
            ),
            Literal(value, type_),
        )
        for place, value in enumerate(values)
    )
    return Case(branches[:-1], branches[-1][1], type_)


def _bits(asked: Sequence[int], one: Set) -> int:
    bits = 0
    for key in asked:
        bits = bits * 2 + (key not in one)
    return bits
