"""The function that Nexmark's query 14 creates, as one of Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.catalog.user_functions import udf

if TYPE_CHECKING:
    import pyarrow as pa


@udf(parameters=["STRING", "STRING"], returns="BIGINT NOT NULL", vectorized=True)
def count_char(text: pa.Array, character: pa.Array) -> pa.Array:
    """How often the first byte of the character is in the text; none are in NULL."""
    import pyarrow as pa
    import pyarrow.compute as pc

    counts = pa.repeat(pa.scalar(0, pa.int64()), len(text))
    data = text.cast(pa.large_binary())
    for wanted in pc.unique(character).to_pylist():
        if not wanted:
            raise ValueError("count_char requires a character")
        found = pc.count_substring(data, wanted.encode()[:1])
        counts = pc.if_else(pc.equal(character, wanted), pc.fill_null(found, 0), counts)
    return counts.cast(pa.int64())
