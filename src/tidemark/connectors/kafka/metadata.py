"""The metadata of records of Kafka."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tidemark import types as t
from tidemark.connectors.base import Part

if TYPE_CHECKING:
    import polars as pl
    from confluent_kafka import Message

METADATA: Mapping[str, t.DataType] = {
    "topic": t.VarChar(nullable=False),
    "partition": t.Int(nullable=False),
    "headers": t.Map(t.VarChar(nullable=False), t.VarBinary(nullable=False), nullable=False),
    "leader-epoch": t.Int(),
    "offset": t.BigInt(nullable=False),
    "timestamp": t.TimestampLtz(3, nullable=False),
    "timestamp-type": t.VarChar(nullable=False),
}
_TIMESTAMP_TYPES: Final = ("NoTimestampType", "CreateTime", "LogAppendTime")


def values_of(key: str, messages: Sequence[Message], part: Part) -> pl.Series:
    """A value for each record."""
    import polars as pl

    from tidemark.columns import polars_type

    if key in ("topic", "partition"):
        value: str | int = part.topic if key == "topic" else part.partition
        return pl.repeat(value, len(messages), dtype=polars_type(METADATA[key]), eager=True)
    if key == "headers":
        return _headers(messages)
    values = [*map(_OF_MESSAGE[key], messages)]
    if key == "timestamp":
        return (
            pl.Series(values, dtype=pl.Int64)
            .cast(pl.Datetime("ms", "UTC"))
            .cast(polars_type(METADATA[key]))
        )
    return pl.Series(values, dtype=polars_type(METADATA[key]))


def _headers(messages: Sequence[Message]) -> pl.Series:
    """As maps; of a header that is repeated, the last one."""
    import polars as pl
    import pyarrow as pa

    from tidemark.functions.arrow_types import loose_arrow

    found = [list(dict(message.headers() or ()).items()) for message in messages]
    series = pl.from_arrow(pa.array(found, loose_arrow(METADATA["headers"])))
    assert isinstance(series, pl.Series)
    return series


def _epoch(message: Message) -> int | None:
    epoch = message.leader_epoch()
    return None if epoch is None or epoch < 0 else int(epoch)


_OF_MESSAGE: Mapping[str, Callable[[Message], Any]] = {
    "offset": lambda message: message.offset(),
    "timestamp": lambda message: message.timestamp()[1],
    "timestamp-type": lambda message: _TIMESTAMP_TYPES[message.timestamp()[0]],
    "leader-epoch": _epoch,
}
