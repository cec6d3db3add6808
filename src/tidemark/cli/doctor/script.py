"""The systems of a script: whether brokers, databases and registries are ready for its tables."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tidemark.catalog.tables import Identifier, Table
from tidemark.cli.doctor.findings import Finding, what_and_todo
from tidemark.connectors import registry
from tidemark.connectors.base import Doubt, Probe, TableUse
from tidemark.dialect.statements import Option
from tidemark.errors import Source, TidemarkError
from tidemark.local.sources import request_of
from tidemark.physical import Settings
from tidemark.plan.nodes import LookupJoin, Node, Scan, Sink, walk
from tidemark.session.local_runs import system_zone
from tidemark.session.workspace import Workspace

_Key = tuple[Identifier, tuple[Option, ...]]


def check_script(sources: Sequence[Source], workspace: Workspace) -> Iterator[Finding]:
    """Plans the script, and asks the systems of the tables that its jobs and queries use."""
    planned = [one for source in sources for one in workspace.plan_script(source.text, source.name)]
    plans = [one.plan.of_single_roots for one in planned if one.plan is not None]
    used = uses(
        (root for plan in plans for root in plan.roots),
        Settings.of(workspace.options, system_zone()).zone,
    )
    if not used:
        yield Finding("Script", "tables", "warning", "no statement reads or writes a table")
    for use in used:
        yield from _check(replace(use, made=workspace.catalogs.makes(use.table.identifier)))


def _check(use: TableUse) -> Iterator[Finding]:
    connector = registry.lookup(use.table)
    section = f"{use.table.identifier} ({connector.name})"
    if connector.probes is None:
        yield Finding(section, "system", "ok", "there is nothing to ask")
        return
    for probe in connector.probes(use):
        finding = _run(probe, section)
        yield finding
        if finding.status == "missing":
            return


def _run(probe: Probe, section: str) -> Finding:
    try:
        found = probe.run()
    except TidemarkError as error:
        return Finding(section, probe.name, "missing", *what_and_todo(error))
    if isinstance(found, Doubt):
        return Finding(section, probe.name, "warning", found.detail, found.hint)
    return Finding(section, probe.name, "ok", found)


# --- what a script uses ------------------------------------------------------------------------


def uses(roots: Iterable[Node], zone: str) -> list[TableUse]:
    """The tables that plans read and write. With other options (`/*+ OPTIONS(...) */`) a table
    is another one."""
    found: dict[_Key, TableUse] = {}
    for node in (node for root in roots for node in _nodes(root)):
        if isinstance(node, Scan):
            use = _use(found, node.table)
            # Of several scans one is tried, with all columns.
            everything = replace(node, read=None) if use.reading is not None else node
            reading = request_of(everything, zone, dt.datetime.now(dt.UTC))
            found[_key(node.table)] = replace(use, reading=reading)
        elif isinstance(node, Sink):
            found[_key(node.table)] = replace(_use(found, node.table), writes=True)
    return [*found.values()]


def _nodes(root: Node) -> Iterator[Node]:
    """All nodes; the table that a join looks up is none of its inputs."""
    for node in walk(root):
        yield node
        if isinstance(node, LookupJoin):
            yield from _nodes(node.right)


def _use(found: dict[_Key, TableUse], table: Table) -> TableUse:
    return found.get(_key(table)) or TableUse(table, registry.options_of(table), None, False)


def _key(table: Table) -> _Key:
    return table.identifier, table.options
