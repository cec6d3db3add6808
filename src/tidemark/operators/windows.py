"""The kernels of windows, groups and deduplication, over input columns of given names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.catalog.tables import Changelog
from tidemark.kernels.windows.spec import Emit, Firing, Given
from tidemark.operators.aggregate_calls import calls_of
from tidemark.operators.times import GIVEN

if TYPE_CHECKING:
    from tidemark.dialect.statements import OnConflict
    from tidemark.kernels.materialize import MaterializeKernel, Strategy
    from tidemark.kernels.normalize import NormalizeKernel
    from tidemark.kernels.order import Order
    from tidemark.kernels.over.updating import OverUpdatingKernel
    from tidemark.kernels.protocol import Kernel
    from tidemark.kernels.sort_by_time import SortByTimeKernel
    from tidemark.kernels.top_n.kernel import TopNKernel
    from tidemark.kernels.windows.aggregate import WindowAggregateKernel
    from tidemark.kernels.windows.rank import WindowRankKernel
    from tidemark.physical import Operator
    from tidemark.plan.nodes import (
        ChangelogNormalize,
        Edge,
        GroupAggregate,
        SinkUpsertMaterializer,
        SortByTime,
        TopN,
        WindowAggregate,
        WindowOrder,
        WindowRank,
    )

RANK: Final = "_tm_rank"
# The window of a group, which never ends.
ALWAYS: Final = (0, 2**62)
_NO_LIMIT: Final = 2**62


def window_aggregate_kernel(
    node: WindowAggregate, keys: tuple[str, ...], names: tuple[str, ...], *, retracts: bool
) -> WindowAggregateKernel:
    from tidemark.kernels.windows.aggregate import WindowAggregateKernel

    return WindowAggregateKernel(
        keys,
        node.assigner if node.given is None else Given(*GIVEN),
        calls_of(node.calls, names),
        emit=node.emit,
        lateness_ms=node.lateness_ms,
        processing_time=node.processing_time,
        retracts=retracts,
    )


def group_aggregate_kernel(
    node: GroupAggregate,
    edge: Edge,
    keys: tuple[str, ...],
    names: tuple[str, ...],
    ttl_ms: int,
    *,
    retracts: bool,
) -> WindowAggregateKernel:
    """A group is a window that does not end, and updates at each row."""
    from tidemark.kernels.windows.aggregate import WindowAggregateKernel

    [ttl_ms] = node.ttls_ms(ttl_ms)
    return WindowAggregateKernel(
        keys,
        Given(*GIVEN, endless=not node.at_end),
        calls_of(node.calls, names),
        Emit() if node.at_end else Emit(early=Firing(each_row=True)),
        retracts=retracts,
        idle_ms=ttl_ms or None,
        # As in Flink; but rows of DISTINCT come out once.
        repeats=ttl_ms > 0 and edge.changelog is not Changelog.APPEND,
        upserts=node.upserts,
    )


def window_rank_kernel(
    node: WindowRank, keys: tuple[str, ...], names: tuple[str, ...]
) -> WindowRankKernel:
    from tidemark.kernels.windows.rank import WindowRankKernel

    order = _order_of(node.order, names)
    return WindowRankKernel(
        keys, *GIVEN, order, node.low, node.high, RANK, node.newest_first, by=node.by
    )


def keep_last_kernel(operator: Operator, keys: tuple[str, ...], ttl_ms: int) -> Kernel:
    from tidemark.kernels.keep_last import KeepLastAtEndKernel, KeepLastKernel
    from tidemark.plan.nodes import KeepLast

    assert isinstance(operator.node, KeepLast)
    if operator.node.at_end:
        return KeepLastAtEndKernel(keys)
    return KeepLastKernel(keys, ttl=ttl_ms or None, upserts=operator.node.upserts)


def top_n_kernel(
    node: TopN, keys: tuple[str, ...], names: tuple[str, ...], ttl_ms: int
) -> TopNKernel | WindowRankKernel | OverUpdatingKernel:
    """Rows that are only inserted are ranked in the end like those of a window. Any number of rows
    may have the same RANK, so that is computed as OVER is.
    """
    from tidemark.kernels.columns import SEQUENCE
    from tidemark.kernels.order import Order
    from tidemark.kernels.top_n.kernel import TopNKernel
    from tidemark.kernels.windows.rank import WindowRankKernel

    order = _order_of(node.order, names)
    high = _NO_LIMIT if node.high is None else node.high
    if node.at_end and node.rows == "inserts":
        newest = node.newest_first
        return WindowRankKernel(keys, *GIVEN, order, node.low, high, RANK, newest, by=node.by)
    if node.newest_first:
        order = (Order(SEQUENCE, descending=True),)
    if node.by != "ROW_NUMBER" and not node.at_end:
        return _by_rank(node, keys, order, high, ttl_ms)
    return TopNKernel(
        keys,
        order,
        node.low,
        high,
        node.rows,
        RANK if node.ranked else None,
        tuple(names[place] for place in node.unique),
        ttl_ms or None,
        at_end=node.at_end,
        by=node.by,
        upserts=node.upserts,
    )


def _by_rank(
    node: TopN, keys: tuple[str, ...], order: tuple[Order, ...], high: int, ttl_ms: int
) -> OverUpdatingKernel:
    import polars as pl

    from tidemark.kernels.over.spec import OverCall
    from tidemark.kernels.over.updating import OverUpdatingKernel, Within
    from tidemark.kernels.windows.spec import AggregateSpec

    number = OverCall(AggregateSpec(node.by, (), RANK, pl.Int64()))
    within = Within(RANK, node.low, high, shown=node.ranked)
    retracts = node.rows != "inserts"
    return OverUpdatingKernel(keys, order, (number,), retracts, ttl_ms or None, within)


def sort_by_time_kernel(node: SortByTime, names: tuple[str, ...]) -> SortByTimeKernel:
    from tidemark.kernels.sort_by_time import SortByTimeKernel

    return SortByTimeKernel(_order_of(node.order, names))


def _order_of(order: tuple[WindowOrder, ...], names: tuple[str, ...]) -> tuple[Order, ...]:
    from tidemark.kernels.order import Order

    return tuple(Order(names[by.column], by.descending, by.nulls_last) for by in order)


_STRATEGIES: Final[dict[OnConflict, Strategy]] = {
    "DEDUPLICATE": "last",
    "NOTHING": "first",
    "ERROR": "only",
}


def materialize_kernel(
    node: SinkUpsertMaterializer, keys: tuple[str, ...], ttl_ms: int
) -> MaterializeKernel:
    from tidemark.kernels.materialize import MaterializeKernel

    names = tuple(node.edge.names[key] for key in node.keys)
    return MaterializeKernel(keys, _STRATEGIES[node.on_conflict], ttl_ms or None, names)


def normalize_kernel(
    node: ChangelogNormalize, keys: tuple[str, ...], names: tuple[str, ...], ttl_ms: int
) -> NormalizeKernel:
    from tidemark.kernels.normalize import NormalizeKernel

    compared = tuple(names[place] for place in node.compared)
    condition = names[len(node.given)] if node.tests else None
    return NormalizeKernel(keys, compared, ttl_ms or None, condition)
