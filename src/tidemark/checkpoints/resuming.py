"""How a job resumes from its checkpoint: with a plan whose operators keep what they have kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tidemark.checkpoints import contract as contracts
from tidemark.checkpoints.contract import Contract
from tidemark.checkpoints.fit import misfits
from tidemark.errors import SqlError
from tidemark.plan.handed_out import is_reader
from tidemark.plan.joins.outer import Unpadded
from tidemark.plan.nodes import Node
from tidemark.plan.planner import Plan, finished_as_before
from tidemark.plan.widening import widened
from tidemark.storage import Location

Promise = Callable[[Node], Contract]


def resumed(root: Node, plan: Plan, then: Contract, promise: Promise) -> tuple[Node, Contract]:
    """The root of a plan as it fits a checkpoint best, and its contract: operators whose rows
    have more columns there than the query needs continue to keep them, operators keep the rows
    that they have kept so far, and outer joins that would be inner ones now stay what they were.
    """
    place = next((n for n, each in enumerate(plan.roots) if each is root), None)
    if place is None or not plan.whole:
        return root, promise(root)
    found = _as_it_fits(plan.whole[place], then, promise)
    differ = _differences(then, found)
    kept: frozenset[Unpadded] = frozenset()
    for more in _paddings(plan.unpadded) if differ else ():
        whole = _padding(plan, kept | more)
        as_before = None if whole is None else _as_it_fits(whole[place], then, promise)
        if as_before is not None and _differences(then, as_before) < differ:
            found, differ, kept = as_before, _differences(then, as_before), kept | more
        if not differ:
            break
    return found


def _paddings(unpadded: Sequence[Unpadded]) -> Iterator[frozenset[Unpadded]]:
    """What a join may have padded when the job started, because earlier versions did or a filter
    has been added since: the rows of both sides, or of one.
    """
    for number in dict.fromkeys(number for number, _ in unpadded):
        yield frozenset(each for each in unpadded if each[0] == number)
    for each in unpadded:
        yield frozenset([each])


def _padding(plan: Plan, kept: frozenset[Unpadded]) -> tuple[Node, ...] | None:
    """The plan with padded rows that are dropped above. None if it is not possible: with them, a
    query may have changes that its sink does not take.
    """
    try:
        return None if plan.padding is None else plan.padding(kept).whole
    except SqlError:
        return None


def _differences(then: Contract, found: tuple[Node, Contract]) -> int:
    return sum(1 for _ in misfits(then, found[1]))


def _as_it_fits(whole: Node, then: Contract, promise: Promise) -> tuple[Node, Contract]:
    root = finished_as_before(whole, then.operators)
    now = promise(root)
    differ = list(misfits(then, now))
    if not differ:
        return root, now
    wide = widened(whole, then.operators)
    wider = promise(wide)
    return (wide, wider) if len([*misfits(then, wider)]) < len(differ) else (root, now)


def with_jobs_of(folders: Sequence[Location], plan: Plan, names: Sequence[str]) -> Plan:
    """The plan, in which a root that has been a job of its own remains one: it reads late rows that
    an operator of another job might hand out. `folders` are those of checkpoints and savepoints,
    and `names` those of the roots as jobs.
    """
    if plan.mode == "batch":
        return plan

    def has_been(name: str) -> bool:
        jobs = (folder / contracts.folder_name(name) for folder in folders)
        return any(contracts.read(job) is not None for job in jobs)

    roots = enumerate(zip(plan.roots, names, strict=True))
    return plan.keeping_apart([n for n, (root, own) in roots if is_reader(root) and has_been(own)])
