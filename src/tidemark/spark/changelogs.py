"""Changes as rows with the codes of their kinds, and such rows as changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tidemark.catalog.tables import Changelog
from tidemark.functions import spark_text
from tidemark.plan.nodes import FromChangelog, ToChangelog
from tidemark.spark.compute import END
from tidemark.spark.error_details import with_details
from tidemark.spark.frame import KIND, Frame, names_of, passes_unless
from tidemark.spark.moments import WATERMARK

if TYPE_CHECKING:
    from tidemark.physical import Compute
    from tidemark.spark.builder import Builder


def to_changelog(builder: Builder, stage: Compute) -> Frame:
    node, below = stage.node, builder.build(stage.inputs[0])
    assert isinstance(node, ToChangelog)
    names = names_of(node.edge)
    kind = "'+I'" if below.changelog is Changelog.APPEND else KIND
    given = [*below.columns, *([] if node.time is None else [below.columns[node.time]])]
    columns = [_cases(kind, node.codes), *map(spark_text.name, given)]
    others = [name for name in below.extra if name != KIND]
    data = below.data.selectExpr(*_named(columns, names), *others)
    if node.drops_rows:
        condition = f"{spark_text.name(names[0])} IS NOT NULL"
        if below.followed:  # as in a filter: the rows that it drops advance the watermark too
            condition = f"({condition}) OR {WATERMARK} > {END}"
        data = data.where(condition)
    return below.over(data, columns=names, changelog=Changelog.APPEND)


def from_changelog(builder: Builder, stage: Compute) -> Frame:
    """A code that is not known fails the job even if a filter above drops its row (same in
    Flink).
    """
    node, below = stage.node, builder.build(stage.inputs[0])
    assert isinstance(node, FromChangelog)
    op = spark_text.name(below.columns[node.op])
    kind = _cases(op, node.kinds)
    fault = f"CASE WHEN {kind} IS NULL THEN {_fault(op, node.kinds)} END"
    known = below.data.where(passes_unless(fault))
    names = names_of(node.edge)
    columns = [spark_text.name(below.columns[place]) for place in node.given]
    data = known.selectExpr(*_named(columns, names), f"{kind} AS {KIND}", *below.extra)
    return below.over(data, columns=names, changelog=Changelog.RETRACT)


def _cases(value: str, pairs: Sequence[tuple[str, str]]) -> str:
    """SQL of the value that belongs to another one; NULL if none does."""
    cases = " ".join(
        f"WHEN {value} = {spark_text.string(one)} THEN {spark_text.string(other)}"
        for one, other in pairs
    )
    return f"CASE {cases} ELSE CAST(NULL AS STRING) END"


def _named(columns: Sequence[str], names: Sequence[str]) -> list[str]:
    pairs = zip(columns, names, strict=True)
    return [f"{column} AS {spark_text.name(name)}" for column, name in pairs]


def _fault(op: str, kinds: Sequence[tuple[str, str]]) -> str:
    from tidemark.kernels.op_codes import PROBLEM, reason

    quote = spark_text.string("'")
    code = f"coalesce(concat({quote}, {op}, {quote}), 'NULL')"
    return with_details(
        {
            "problem": f"concat({spark_text.string(PROBLEM)}, {code})",
            "reason": spark_text.string(reason(code for code, _ in kinds)),
        }
    )
