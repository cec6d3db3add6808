"""What workers must know of the right side of a lookup join; all of it can be sent to them."""

from __future__ import annotations

import datetime as dt
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tidemark.connectors import registry
from tidemark.connectors.lookups import Lookup, LookupRequest
from tidemark.errors import NeedsSpark, NotSupported
from tidemark.functions.spark_text import safe_names
from tidemark.local.builder import LocalBuilder
from tidemark.local.faults import checked
from tidemark.local.lookups.reloads import Reload, reload_of
from tidemark.local.rows import LocalRows
from tidemark.physical import Compute, Stage, WatermarkStage
from tidemark.plan.looked_up import LookedUp
from tidemark.plan.nodes import AssignWatermark, LookupJoin, LookupRetry, Node, Scan
from tidemark.plan.nodes.scan import Emitted
from tidemark.storage import NO_ACCESS, Access
from tidemark.types import DataType

if TYPE_CHECKING:
    import polars as pl

    from tidemark.kernels.lookup_cache import CacheLimits

_PARTIAL = "lookup.partial-cache."
# Builds the rows of a stage.
Lower = Callable[[LocalBuilder, Stage], LocalRows]


@dataclass(frozen=True, slots=True)
class Dimension:
    """How right rows are found: `found` is what connectors return, and `stage` makes the rows of
    the join's right side of it.
    """

    name: str
    lookup: Lookup
    found: tuple[str, ...]
    found_types: tuple[DataType, ...]
    stage: Stage
    keys: tuple[int, ...]  # the right side's keys
    asked: tuple[int, ...]  # of what is found, for each key; none if the table is loaded whole
    zone: str
    reload: Reload | None = None
    limits: CacheLimits | None = None  # None: nothing is cached
    retries: int = 0
    retry_missing: LookupRetry | None = None
    # Names it among all dimensions of a process.
    id: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def by_key(self) -> bool:
        return bool(self.asked)

    def computing(self, lower: Lower) -> Computing:
        return Computing.of(self, lower)


@dataclass(frozen=True)
class DimensionRows(Emitted):
    """The right side of a lookup join, of which workers know how to find its rows."""

    dimension: Dimension = field(compare=False, kw_only=True)


@dataclass(slots=True)
class Computing:
    """Computes the rows of a stage above `Emitted`, frame by frame, with expressions that are
    written once.
    """

    rows: LocalRows
    given: list[pl.DataFrame]

    @classmethod
    def of(cls, dimension: Dimension, lower: Lower) -> Computing:
        given: list[pl.DataFrame] = []
        rows = LocalRows(lambda: iter(given), dimension.found)

        def lower_above(builder: LocalBuilder, part: Stage) -> LocalRows:
            is_given = isinstance(part, Compute) and isinstance(part.node, Emitted)
            return rows if is_given else lower(builder, part)

        builder = LocalBuilder(dimension.zone, 0, dt.datetime.now(dt.UTC), _no_table, lower_above)
        return cls(checked(builder.build(dimension.stage)), given)

    def __call__(self, frame: pl.DataFrame) -> pl.DataFrame:
        self.given[:] = [frame]
        [computed] = self.rows.frames()
        return computed


def _no_table(scan: Scan, _: LocalBuilder) -> LocalRows:
    raise AssertionError(f"a table that is not looked up: {scan.table.name}")


# --- from a plan -------------------------------------------------------------------------------


def of_table(
    node: LookupJoin, zone: str, lower: Lower, access: Access = NO_ACCESS
) -> Dimension | None:
    """The dimension of a table whose connector can be reached by workers; None for another one, or
    if only Spark can read or compute its rows.
    """
    table = LookedUp.of(node.right)
    if table is None or node.by == "once":
        return None
    try:
        dimension = _of_connector(node, table, zone, access)
        dimension.computing(lower)
    except NeedsSpark as problem:
        if node.by == "keys":
            raise refused(problem, "in a table that is looked up by key") from None
        return None
    return dimension


def refused(problem: NeedsSpark, where: str) -> NotSupported:
    """The error for what only Spark computes, where it cannot."""
    what = problem.message.removesuffix(" needs Spark")
    why = "workers look rows up, and compute what depends on them without Spark"
    return NotSupported(f"{what} is not supported {where}", notes={**problem.notes, "why": why})


def of_rows(
    node: LookupJoin,
    lookup: Lookup,
    names: tuple[str, ...],
    zone: str,
    reload: Reload | None = None,
) -> Dimension:
    """The dimension of rows that something else has computed, with columns under these names."""
    edge = node.right.edge
    stage = Compute(Emitted(edge), ())
    return Dimension("rows", lookup, names, edge.types, stage, node.right_keys, (), zone, reload)


def _of_connector(node: LookupJoin, table: LookedUp, zone: str, access: Access) -> Dimension:
    scan = table.scan
    connector, options = registry.lookup(scan.table), registry.options_of(scan.table)
    assert connector.lookup is not None  # its traits say so
    by_key = node.by == "keys"
    places = [table.place(key) for key in node.right_keys] if by_key else []
    asked = tuple(dict.fromkeys(place for place in places if place is not None))
    request = LookupRequest(
        table=scan.table,
        options=options,
        columns=safe_names(scan.edge.names),
        types=scan.edge.types,
        metadata=scan.metadata,
        keys=asked,
        conditions=table.conditions,
        zone=zone,
        read=scan.names_read,
        access=access,
    )
    partial = by_key and options.get("lookup.cache") == "PARTIAL"
    return Dimension(
        scan.table.name,
        connector.lookup(request),
        request.columns,
        request.types,
        _over_found(node.right),
        node.right_keys,
        tuple(place for place in places if place is not None),
        zone,
        reload_of(options, zone) if node.by == "whole" else None,
        _limits(options) if partial else None,
        options.get("lookup.max-retries") or 0,
        node.retry,
    )


def _limits(options: Mapping[str, Any]) -> CacheLimits:
    from tidemark.kernels.lookup_cache import CacheLimits

    return CacheLimits(
        options[_PARTIAL + "expire-after-write"],
        options[_PARTIAL + "expire-after-access"],
        options[_PARTIAL + "max-rows"],
        options[_PARTIAL + "cache-missing-key"],
    )


def _over_found(right: Node) -> Compute | WatermarkStage:
    """The stages of a right side over rows that are found instead of its table."""
    if isinstance(right, Scan):
        return Compute(Emitted(right.edge), ())
    below = tuple(map(_over_found, right.inputs))
    node = right.with_inputs([part.node for part in below])
    if isinstance(node, AssignWatermark):
        return WatermarkStage(node, (below[0],))
    return Compute(node, below)
