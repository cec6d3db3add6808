"""CREATE TABLE ... LIKE: a new table with parts of another."""

from __future__ import annotations

from dataclasses import replace

from tidemark.catalog.definitions import restated
from tidemark.catalog.tables import Table
from tidemark.dialect import statements as s
from tidemark.errors import CatalogError

# Flink's defaults: everything is included, and options of the new table win.
DEFAULTS = {
    "CONSTRAINTS": "INCLUDING",
    "DISTRIBUTION": "INCLUDING",
    "GENERATED": "INCLUDING",
    "METADATA": "INCLUDING",
    "OPTIONS": "OVERWRITING",
    "PARTITIONS": "INCLUDING",
    "WATERMARKS": "INCLUDING",
}


def derive(table: Table, base: Table, like: s.Like) -> Table:
    """`table` completed with the parts of `base` that `like` includes."""
    choices = _choices(like)
    derived = replace(
        table,
        columns=_columns(table, base, choices),
        watermark=_watermark(table, base, choices["WATERMARKS"]),
        primary_key=_primary_key(table, base, choices["CONSTRAINTS"]),
        distribution=_distribution(table, base, choices["DISTRIBUTION"]),
        partitioned_by=_partitions(table, base, choices["PARTITIONS"]),
        options=_options(table, base, choices["OPTIONS"]),
    )
    # Errors can point into only one source.
    return derived if table.source is base.source else restated(derived)


# A table has at most one key and one partitioning, so there is nothing to overwrite.
_NEVER_OVERWRITTEN = ("ALL", "CONSTRAINTS", "DISTRIBUTION", "PARTITIONS")


def _choices(like: s.Like) -> dict[str, str]:
    """What to do with each feature: `ALL` first, then the ones that are named."""
    _check_choices(like)
    choices = dict(DEFAULTS)
    for feature, choice in like.choices:
        if feature == "ALL":
            choices = dict.fromkeys(choices, choice)
    choices.update({feature: choice for feature, choice in like.choices if feature != "ALL"})
    return choices


def _check_choices(like: s.Like) -> None:
    features = [feature for feature, _ in like.choices]
    for feature, choice in like.choices:
        if features.count(feature) > 1:
            raise CatalogError(f"LIKE lists {feature} twice", at=like.table.span)
        if choice == "OVERWRITING" and feature in _NEVER_OVERWRITTEN:
            raise CatalogError(
                f"OVERWRITING {feature} is not allowed in LIKE",
                at=like.table.span,
                hint=f"write INCLUDING {feature} or EXCLUDING {feature}",
            )


def _columns(table: Table, base: Table, choices: dict[str, str]) -> tuple[s.Column, ...]:
    """The base's columns, with overwritten ones replaced, then the new ones."""
    own = {column.name: column for column in table.columns}
    taken = []
    for column in base.columns:
        feature = _FEATURE_OF.get(type(column))
        choice = choices[feature] if feature else "INCLUDING"
        if choice == "EXCLUDING":
            continue
        mine = own.get(column.name)
        if mine is None:
            taken.append(column)
        elif choice == "OVERWRITING" and type(mine) is type(column):
            taken.append(own.pop(column.name))
        else:
            raise CatalogError(
                f"`{base.name}` already has a column `{column.name}`",
                at=mine.span,
                hint=f"leave it out, or add OVERWRITING {feature}" if feature else "leave it out",
            )
    return (*taken, *own.values())


_FEATURE_OF: dict[type[s.Column], str] = {
    s.ComputedColumn: "GENERATED",
    s.MetadataColumn: "METADATA",
}


def _watermark(table: Table, base: Table, choice: str) -> s.Watermark | None:
    if choice == "EXCLUDING" or base.watermark is None:
        return table.watermark
    if table.watermark is None:
        return base.watermark
    if choice == "OVERWRITING":
        return table.watermark
    raise CatalogError(
        f"`{base.name}` already has a watermark",
        at=table.watermark.span,
        hint="add OVERWRITING WATERMARKS or EXCLUDING WATERMARKS",
    )


def _primary_key(table: Table, base: Table, choice: str) -> s.PrimaryKey | None:
    if choice == "EXCLUDING" or base.primary_key is None:
        return table.primary_key
    if table.primary_key is None:
        return base.primary_key
    raise CatalogError(
        f"`{base.name}` already has a primary key",
        at=table.primary_key.span,
        hint="add EXCLUDING CONSTRAINTS",
    )


def _distribution(table: Table, base: Table, choice: str) -> s.Distribution | None:
    if choice == "EXCLUDING" or base.distribution is None:
        return table.distribution
    if table.distribution is None:
        return base.distribution
    raise CatalogError(
        f"`{base.name}` is already distributed",
        at=table.distribution.span,
        hint="add EXCLUDING DISTRIBUTION",
    )


def _partitions(table: Table, base: Table, choice: str) -> tuple[str, ...]:
    if choice == "EXCLUDING" or not base.partitioned_by:
        return table.partitioned_by
    if not table.partitioned_by:
        return base.partitioned_by
    raise CatalogError(
        f"`{base.name}` is already partitioned by {', '.join(base.partitioned_by)}",
        hint="add EXCLUDING PARTITIONS",
    )


def _options(table: Table, base: Table, choice: str) -> tuple[s.Option, ...]:
    if choice == "EXCLUDING":
        return table.options
    own = {option.key for option in table.options}
    if choice == "INCLUDING":
        for option in base.options:
            if option.key in own:
                raise CatalogError(
                    f"`{base.name}` already sets option '{option.key}'",
                    at=next(o.span for o in table.options if o.key == option.key),
                    hint="add OVERWRITING OPTIONS",
                )
    return (*(o for o in base.options if o.key not in own), *table.options)
