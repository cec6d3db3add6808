"""The files of COMPILE PLAN: statements and what they need, as JSON.

A plan is stored as the statement with the tables, views, functions and options that it needs, and
not as operators: a later version plans it again, and the jobs find their checkpoints by the same
rules as those of a script.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tidemark import __version__
from tidemark.errors import CatalogError, Span
from tidemark.storage import Location

# Goes up when earlier versions could not read a plan any more.
FORMAT = 1


@dataclass(frozen=True, slots=True)
class StoredObject:
    """A statement that creates an object, and the catalog and database that are current then."""

    path: tuple[str, str]
    statement: str


@dataclass(frozen=True, slots=True)
class StoredPlan:
    """A statement that starts jobs, and everything that it needs."""

    statement: str
    path: tuple[str, str]
    objects: tuple[StoredObject, ...]
    temporal_functions: tuple[Mapping[str, Any], ...]
    options: Mapping[str, str]

    def as_json(self) -> str:
        values = {"format": FORMAT, "tidemark": __version__, **asdict(self)}
        return json.dumps(values, indent=2, ensure_ascii=False) + "\n"


def exists(path: str) -> bool:
    return Location.of(path).exists


def write(path: str, plan: StoredPlan, at: Span, *, replace: bool) -> None:
    """Table options may be secrets: on this machine, only the owner may read the file."""
    place = Location.of(path)
    if place.exists and not replace:
        raise CatalogError(
            f"the plan {place} already exists",
            at=at,
            hint="remove it, write IF NOT EXISTS, or SET 'table.plan.force-recompile' = 'true'",
        )
    content = plan.as_json().encode()
    if place.is_local:
        _write_for_owner(place.uri, content)
    else:
        place.write(content)


def _write_for_owner(path: str, content: bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    part = f"{path}.part"
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
    os.replace(part, path)


def read(path: str, at: Span) -> StoredPlan:
    """Raises CatalogError if there is no plan, or one that this version cannot read."""
    place = Location.of(path)
    content = place.read()
    if content is None:
        raise CatalogError(
            f"there is no plan {place}", at=at, hint=f"COMPILE PLAN '{path}' FOR INSERT ..."
        )
    values = _parsed(place, content, at)
    if values.get("format") != FORMAT:
        raise CatalogError(
            f"the plan {place} has format {values.get('format')}, but this version of Tidemark "
            f"reads format {FORMAT}",
            at=at,
            notes={"written by": f"Tidemark {values.get('tidemark')}", "this version": __version__},
            hint="execute it with that version, or compile it again",
        )
    try:
        return StoredPlan(
            str(values["statement"]),
            _path(values["path"]),
            tuple(StoredObject(_path(o["path"]), str(o["statement"])) for o in values["objects"]),
            tuple(dict(function) for function in values["temporal_functions"]),
            {str(key): str(value) for key, value in values["options"].items()},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise _broken(place, f"{type(problem).__name__}: {problem}", at) from None


def _path(value: Any) -> tuple[str, str]:
    catalog, database = value
    return str(catalog), str(database)


def _parsed(place: Location, content: bytes, at: Span) -> dict[str, Any]:
    try:
        values = json.loads(content)
    except ValueError as problem:
        raise _broken(place, str(problem), at) from None
    if not isinstance(values, dict):
        raise _broken(place, "it is not a JSON object", at)
    if "flinkVersion" in values:
        raise _broken(place, "it was compiled by Flink", at)
    return values


def _broken(place: Location, why: str, at: Span) -> CatalogError:
    return CatalogError(
        f"{place} is not a plan of Tidemark",
        at=at,
        notes={"why": why},
        hint="compile it again, from the statements",
    )
