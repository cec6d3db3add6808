"""Rows once per element of a collection, as DataFrames."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tidemark import types as t
from tidemark.errors import NotSupported
from tidemark.functions import spark_text
from tidemark.plan.expressions import Call, Expression, FieldAccess, Ref, UserCall, over, walk
from tidemark.plan.nodes import Unnest
from tidemark.spark.compute import END
from tidemark.spark.frame import Frame, names_of
from tidemark.spark.moments import WATERMARK

if TYPE_CHECKING:
    from tidemark.physical import Compute
    from tidemark.spark.builder import Builder


def unnest(builder: Builder, stage: Compute) -> Frame:
    node, below = stage.node, builder.build(stage.inputs[0])
    assert isinstance(node, Unnest)
    names = names_of(node.edge)
    added = names[len(below.columns) :]
    collection = _elements(builder.write(node.collection, below), node.collection.type)
    fields = _fields(node)
    if node.condition is not None or node.drops_null_rows:
        collection = _counting(builder, node, below, collection)
        fields = [f"_tm_element.{name}" for name in _names(node)]
    collection = below.exploding(collection)
    if below.followed:
        # Rows without elements advance the watermark too. Of a plain column, Spark would filter out
        # those below the place where it follows the watermark, and the marker of the end with them.
        collection = f"IF({WATERMARK} > {END}, NULL, {collection})"
    explode = "posexplode" + ("_outer" if node.outer else "")
    opened = below.data.selectExpr(*below.kept, f"{explode}({collection}) AS (_tm_at, _tm_element)")
    projections = [
        f"{text} AS {spark_text.name(name)}" for text, name in zip(fields, added, strict=True)
    ]
    renamed = [
        f"{spark_text.name(old)} AS {spark_text.name(new)}"
        for old, new in zip(below.columns, names, strict=False)
    ]
    return below.over(opened.selectExpr(*renamed, *projections, *below.extra), columns=names)


def _counting(builder: Builder, node: Unnest, below: Frame, elements: str) -> str:
    """SQL of the elements that count, each as a row of the columns that it becomes."""
    names = _names(node)
    parts = ", ".join(f"{text} AS {name}" for text, name in zip(_fields(node), names, strict=True))
    row, tests = f"struct({parts})", []
    if node.drops_null_rows:
        row = f"CASE WHEN _tm_element IS NOT NULL THEN {row} END"
        tests.append("_tm_element IS NOT NULL")
    if node.condition is not None:
        _check_runs_in_java(node.condition)
        tests.append(f"({_condition(builder, node, below)})")
    rows = f"transform({elements}, (_tm_element, _tm_at) -> {row})"
    return f"filter({rows}, _tm_element -> {' AND '.join(tests)})"


def _condition(builder: Builder, node: Unnest, below: Frame) -> str:
    """SQL of the condition, over the columns below and the row of an element."""
    assert node.condition is not None
    width, names = len(below.columns), _names(node)
    fields = [t.Field(name, c.type) for name, c in zip(names, node.added, strict=True)]
    row = Ref(width, "_tm_element", t.Row(tuple(fields)))

    def of_row(ref: Ref) -> Expression:
        if ref.index < width:
            return ref
        return FieldAccess(row, names[ref.index - width], ref.type)

    frame = replace(below, columns=(*below.columns, row.name))
    return builder.write(over(node.condition, of_row), frame)


def _check_runs_in_java(condition: Expression) -> None:
    """Spark calls no Python for the elements of a collection."""
    for part in walk(condition):
        if isinstance(part, UserCall) or (isinstance(part, Call) and part.function.python):
            raise NotSupported(
                f"{part.function.name} in the ON of a LEFT JOIN with UNNEST or a table function is "
                "not supported on Spark",
                notes={"why": "it runs in Python, and Spark calls no Python for elements"},
                hint="put it into WHERE, or SET 'tidemark.engine' = 'local'",
            )


def _names(node: Unnest) -> list[str]:
    return [f"_{place}" for place in range(len(node.added))]


def _fields(node: Unnest) -> list[str]:
    """SQL of the columns that an element becomes, and of its place."""
    return [*_element_fields(node.collection.type), *["_tm_at + 1"] * node.ordinality]


def _elements(text: str, type_: t.DataType) -> str:
    """The collection as an array: the entries of a map, the elements of a multiset with
    repetitions.
    """
    if isinstance(type_, t.Map):
        return f"map_entries({text})"
    if isinstance(type_, t.Multiset):
        return f"flatten(transform(map_entries({text}), e -> array_repeat(e.key, e.value)))"
    return text


def _element_fields(type_: t.DataType) -> list[str]:
    if isinstance(type_, t.Map):
        return ["_tm_element.key", "_tm_element.value"]
    assert isinstance(type_, t.Array | t.Multiset)
    if isinstance(type_.element, t.Row):
        names = spark_text.safe_names([field.name for field in type_.element.fields])
        return [f"_tm_element.{spark_text.name(name)}" for name in names]
    return ["_tm_element"]
