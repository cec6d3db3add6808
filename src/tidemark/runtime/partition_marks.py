"""The watermarks of a source's partitions, as far as the key groups of an operator know them.

Before a micro-batch the driver reports which partitions count, and how far they have come. Workers
report how far the ones that they read come in it. So rows that a micro-batch completes need not
wait for the next one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from tidemark.kernels.columns import BEFORE_ALL
from tidemark.runtime.bucket import Packed

# A packed row whose `input` is the number of an input plus this has the watermarks of the
# partitions that count, by name, in its payload, if these are known; its position is the watermark
# of the source, or 0.
COUNTED: Final = 1 << 20
# The same for the name of one partition, which has come to the watermark at its position.
MARKED: Final = 1 << 21

# By the number of the input, as text, and the name of the partition: what is kept in state.
Marks: TypeAlias = Mapping[str, Mapping[str, int]]


def with_reports(known: Marks, packed: Iterable[Packed]) -> tuple[Marks, list[Packed]]:
    """What is known of partitions after the packed rows of a micro-batch; and these rows, with
    reports of the watermarks that follow.

    Until it is known which partitions count, there may be others that hold the watermark back.
    """
    counted: dict[str, dict[str, int]] = {}
    marked: list[tuple[str, str, int]] = []
    rows: list[Packed] = []
    for row in packed:
        number, partition, position, payload = row
        if number < COUNTED:
            rows.append(row)
        elif number < MARKED:
            if payload is not None:
                counted[str(number - COUNTED)] = json.loads(_text(payload))
            if position > 0:
                rows.append((number - COUNTED, partition, position, None))
        else:
            marked.append((str(number - MARKED), _text(payload), position))
    if not counted and not marked:
        return known, rows
    marks = {input_: dict(of_input) for input_, of_input in {**known, **counted}.items()}
    for input_, name, position in marked:
        if input_ in marks:
            of_input = marks[input_]
            of_input[name] = max(of_input.get(name, BEFORE_ALL), position)
    for input_, of_input in marks.items():
        watermark = min(of_input.values(), default=BEFORE_ALL)
        if watermark > BEFORE_ALL:
            rows.append((int(input_), 0, watermark, None))
    return marks, rows


def _text(payload: object) -> str:
    assert isinstance(payload, bytes)
    return payload.decode()
