"""Checkpoint folders from Python: what they contain, whether a script fits, and copies."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

from tidemark.catalog.options import LOCAL_TIME_ZONE, STATE_TTL
from tidemark.checkpoints import contract as contracts
from tidemark.checkpoints.contract import Contract, folder_name
from tidemark.checkpoints.copying import copy_checkpoint, jobs_in
from tidemark.checkpoints.fit import Misfit, misfits
from tidemark.checkpoints.of_plan import contract_of
from tidemark.checkpoints.overview import CheckpointJob, overview
from tidemark.checkpoints.resuming import resumed, with_jobs_of
from tidemark.errors import Source
from tidemark.plan.handed_out import is_reader
from tidemark.plan.kept_state import LayoutOptions
from tidemark.plan.nodes import Node
from tidemark.plan.planner import Plan
from tidemark.session.job_names import JobNames
from tidemark.session.workspace import Planned, Workspace
from tidemark.storage import Location

Outcome = Literal["kept", "rebuilt", "lost", "refused"]


@dataclass(frozen=True, slots=True)
class StateOutcome:
    """What happens to an operator's state, or to a job without state, if a script resumes.

    `kept`: it is used. `rebuilt`: there is none yet, and it starts empty. `lost`: nothing in the
    script uses it. `refused`: the job would not start.
    """

    job: str
    operator: str | None
    outcome: Outcome
    reason: str = ""
    then: str = ""
    now: str = ""
    hint: str = ""


class Checkpoint:
    """A checkpoint folder. Nothing here starts Spark.

    >>> tidemark.Checkpoint("state/").jobs  # doctest: +SKIP
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Location.of(folder)

    @property
    def jobs(self) -> tuple[CheckpointJob, ...]:
        """The jobs that have started with this folder, and how far they have come."""
        return overview(self.folder)

    def copy(self, target: str | os.PathLike[str]) -> Checkpoint:
        """A copy that jobs can start from, with each job as it was after its last finished
        micro-batch.
        """
        copied = Checkpoint(target)
        copy_checkpoint(self.folder, copied.folder)
        return copied

    def check(
        self, script: str, name: str = "<sql>", options: Mapping[str, str] | None = None
    ) -> tuple[StateOutcome, ...]:
        """What would happen to all state here if the script were run with this folder."""
        return self.check_in(Workspace(options), [Source(script, name)])

    def check_in(self, workspace: Workspace, scripts: list[Source]) -> tuple[StateOutcome, ...]:
        """The same with the tables and options of a workspace."""
        folders = {folder.name: folder for folder in jobs_in(self.folder)}
        found: list[StateOutcome] = []
        for job, root, plan in _jobs(workspace, scripts, self.folder):
            folder = folders.pop(folder_name(job), None)
            then = None if folder is None else contracts.read(folder)
            promise = partial(_contract, workspace, job, then)
            if then is None:
                found += _new(promise(root))
            else:
                found += _compared(then, resumed(root, plan, then, promise)[1])
        for folder in folders.values():
            then = contracts.read(folder)
            found += [] if then is None else _left(then)
        return tuple(found)


def _jobs(
    workspace: Workspace, scripts: list[Source], folder: Location
) -> Iterator[tuple[str, Node, Plan]]:
    """The jobs that the scripts start with a folder, by the names that they would have."""
    names = JobNames(workspace.options)
    for source in scripts:
        for planned in _each(workspace, source):
            if planned.plan is not None:
                named = [names.next(root) for root in planned.plan.roots]
                plan = with_jobs_of([folder], planned.plan, named)
                for name, root in zip(named, plan.roots, strict=True):
                    if not is_reader(root):
                        yield name, root, plan


def _each(workspace: Workspace, source: Source) -> Iterator[Planned]:
    from tidemark.dialect import parse_script

    script = parse_script(source.text, source.name)
    for statement in script.statements:
        yield workspace.apply(statement, script.source)


def _contract(workspace: Workspace, job: str, then: Contract | None, root: Node) -> Contract:
    options = workspace.options
    # Without the option it is the machine's zone, which is assumed not to have changed.
    zone = options.get(LOCAL_TIME_ZONE) or (_zone_of(then) if then is not None else "UTC")
    return contract_of(
        root,
        job,
        LayoutOptions(zone, options.milliseconds(STATE_TTL) or 0),
        key_groups=then.key_groups if then is not None else 1,
        shuffle_partitions=then.shuffle_partitions if then is not None else 1,
        spark=then.spark if then is not None else "",
    )


def _zone_of(contract: Contract) -> str:
    zones = (operator.meaning.get("time zone") for operator in contract.operators)
    return next((zone for zone in zones if isinstance(zone, str)), "UTC")


def _compared(then: Contract, now: Contract) -> Iterator[StateOutcome]:
    found = list(misfits(then, now))
    of_operator = {misfit.operator: misfit for misfit in found}
    ids = dict.fromkeys(
        [*(kept.id for kept in then.operators), *(kept.id for kept in now.operators)]
    )
    if None in of_operator:
        yield _refused(now.job, None, of_operator[None])
    for id_ in ids:
        misfit = of_operator.get(id_)
        yield _refused(now.job, id_, misfit) if misfit else StateOutcome(now.job, id_, "kept")
    if not ids and not found:
        yield StateOutcome(now.job, None, "kept", "positions in its sources")


def _refused(job: str, id_: str | None, misfit: Misfit) -> StateOutcome:
    return StateOutcome(job, id_, "refused", misfit.what, misfit.then, misfit.now, misfit.hint)


def _new(now: Contract) -> Iterator[StateOutcome]:
    reason = "the checkpoint has no job with this name"
    for id_ in _ids(now):
        yield StateOutcome(now.job, id_, "rebuilt", reason)


def _left(then: Contract) -> Iterator[StateOutcome]:
    reason = "the script has no job with this name"
    for id_ in _ids(then):
        yield StateOutcome(then.job, id_, "lost", reason)


def _ids(contract: Contract) -> tuple[str | None, ...]:
    """A job without state still gets one entry."""
    return tuple(kept.id for kept in contract.operators) or (None,)
