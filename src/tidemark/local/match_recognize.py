"""MATCH_RECOGNIZE, by its kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.operators.match_recognize import match_recognize_kernel, measure_name
from tidemark.operators.times import emitting_stamps, given_time
from tidemark.plan.nodes import Match

if TYPE_CHECKING:
    from tidemark.local.builder import LocalBuilder
    from tidemark.local.rows import LocalRows
    from tidemark.physical import Operator


def match_recognize(builder: LocalBuilder, operator: Operator) -> LocalRows:
    from tidemark.local.inputs import OneInput
    from tidemark.local.kernels import run_kernel

    node = operator.node
    assert isinstance(node, Match)
    input_ = OneInput.of(builder, operator)
    kernel = match_recognize_kernel(node, input_.keys, input_.names, builder.zone, builder.now)
    timed = given_time(emitting_stamps(kernel, operator), operator, stamped=input_.stamped)
    measures = [measure_name(place) for place in range(len(node.measures))]
    output = [*input_.key_columns, *measures]
    return run_kernel(builder, operator, timed, [input_.rows], output, kinds=False)
