"""Partitions that ALTER TABLE adds to the catalog. Files do not depend on them, as in Flink."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tidemark.catalog.tables import Partition, Table
from tidemark.dialect import statements as s
from tidemark.errors import CatalogError, did_you_mean


def partition_values(given: Sequence[s.Option], table: Table, *, whole: bool) -> Partition:
    """The values in the order of PARTITIONED BY; all of them if it must be a `whole` partition."""
    keys = table.partitioned_by
    values = {option.key: option.value for option in given}
    for option in given:
        if option.key not in keys:
            raise CatalogError(
                f"`{table.name}` is not partitioned by `{option.key}`",
                at=option.span,
                notes={"PARTITIONED BY": ", ".join(keys) or "nothing"},
                hint=did_you_mean(option.key, keys),
            )
    if whole and len(values) < len(keys):
        raise CatalogError(
            f"a partition of `{table.name}` has a value for each of {', '.join(keys)}",
            at=given[-1].span,
        )
    return tuple((key, values[key]) for key in keys if key in values)


def with_partitions(table: Table, action: s.AddPartitions) -> Table:
    """The table with these partitions, in the order in which they are added."""
    kept = list(table.partitions)
    for given in action.partitions:
        partition = partition_values(given, table, whole=True)
        if partition not in kept:
            kept.append(partition)
        elif not action.if_not_exists:
            raise CatalogError(
                f"partition {_text(partition)} already exists",
                at=given[0].span,
                hint="write ADD IF NOT EXISTS PARTITION",
            )
    return replace(table, partitions=tuple(kept))


def without_partitions(table: Table, action: s.DropPartitions) -> Table:
    kept = list(table.partitions)
    for given in action.partitions:
        partition = partition_values(given, table, whole=True)
        if partition in kept:
            kept.remove(partition)
        elif not action.if_exists:
            raise CatalogError(
                f"partition {_text(partition)} does not exist",
                at=given[0].span,
                hint="write DROP IF EXISTS PARTITION",
            )
    return replace(table, partitions=tuple(kept))


def _text(partition: Partition) -> str:
    return ", ".join(f"{key}={value}" for key, value in partition)
