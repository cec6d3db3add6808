"""Columns of strings that match patterns."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidemark.connectors.faker.patterns import Either, InOrder, OneOf, Pattern, Repeated
from tidemark.connectors.made_rows.columns import strings
from tidemark.connectors.made_rows.columns.draws import Draws
from tidemark.connectors.made_rows.columns.rows import Longs


def below(draws: Draws, bound: int, use: str = "") -> Longs:
    """A random number from 0 up to, but not including, the bound."""
    return (draws.words(use) % np.uint64(bound)).astype(np.int64)


def one_of(draws: Draws, values: tuple[str, ...] | pa.Array) -> pa.Array:
    """One of the values for each row."""
    pool = values if isinstance(values, pa.Array) else pa.array(values, pa.large_string())
    return pool.take(pa.array(below(draws, len(pool))))


def constant(text: str, rows: int) -> pa.Array:
    return pa.repeat(pa.scalar(text, pa.large_string()), rows)


def matching(made: Pattern, draws: Draws) -> pa.Array:
    match made:
        case str():
            return constant(made, len(draws.numbers))
        case OneOf(characters=characters):
            return one_of(draws, tuple(characters))
        case InOrder(parts=parts):
            each = [matching(part, draws.field(str(n))) for n, part in enumerate(parts)]
            return strings.joined(*each)
        case Repeated():
            return _repeated(made, draws)
        case Either(branches=branches):
            return _either(branches, draws)


def _either(branches: tuple[Pattern, ...], draws: Draws) -> pa.Array:
    if all(isinstance(branch, str) for branch in branches):
        return one_of(draws, tuple(map(str, branches)))
    chosen = below(draws, len(branches))
    order, found = np.argsort(chosen, kind="stable"), []
    for number, branch in enumerate(branches):
        inner = draws.field(str(number))
        found.append(
            matching(branch, Draws(inner.path, inner.seed, draws.numbers[chosen == number]))
        )
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return pa.concat_arrays(found).take(pa.array(back))


def _repeated(made: Repeated, draws: Draws) -> pa.Array:
    spread = made.most - made.least + 1
    lengths = made.least + below(draws, spread, "count") if spread > 1 else None
    if isinstance(made.part, OneOf) and made.part.characters.isascii():
        return _characters(made.part.characters, made.most, lengths, draws)
    parts = []
    for number in range(made.most):
        part = matching(made.part, draws.field(str(number)))
        if lengths is not None:
            part = strings.chosen(lengths > number, part, constant("", len(draws.numbers)))
        parts.append(part)
    return strings.joined(*parts) if parts else constant("", len(draws.numbers))


def _characters(
    characters: str, most: int, lengths: npt.NDArray[np.int64] | None, draws: Draws
) -> pa.Array:
    """Strings of one class of characters. A pair of random bytes chooses each."""
    alphabet = np.frombuffer(characters.encode(), np.uint8)
    units = np.ascontiguousarray(draws.bytes(2 * most)).view("<u2")
    return strings.of_lines(alphabet[units % len(alphabet)], lengths)
