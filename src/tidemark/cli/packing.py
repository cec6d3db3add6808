"""Tidemark and all that it imports as an archive, for workers of a cluster.

What is in it is what is installed here, so workers need the same version of Python on the same kind
of machine, and nothing else.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Collection, Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement

from tidemark.errors import SetupError

_OWN: Final = "tidemark"
# Spark gives workers its own.
_SPARKS: Final = frozenset({"pyspark", "py4j"})
# Where this machine has a package must not be published.
_LEFT_OUT: Final = frozenset({"direct_url.json", "RECORD", "INSTALLER", "REQUESTED"})


def pack(archive: Path, names: Iterable[str] = ("tidemark",)) -> list[str]:
    """Write an archive with distributions that are installed here, and with what these require; the
    names and versions of all. Of Tidemark all extras belong to it that are installed.
    """
    found = _closure(names)
    unfinished = archive.with_name(f".{archive.name}.unfinished")
    archive.parent.mkdir(parents=True, exist_ok=True)
    try:
        with tarfile.open(unfinished, "w:gz", compresslevel=1) as packed:
            for path, name in sorted(_files(found), key=lambda pair: pair[1]):
                packed.add(path, name, recursive=False)
        unfinished.replace(archive)
    finally:
        unfinished.unlink(missing_ok=True)
    return [f"{one.name} {one.version}" for one in found]


def _closure(names: Iterable[str]) -> list[metadata.Distribution]:
    """The distributions of these names and what they require, as far as Spark does not bring it."""
    found: dict[str, metadata.Distribution] = {}
    waiting = [(Requirement(name), True) for name in names]
    while waiting:
        wanted, must = waiting.pop()
        name = _normal(wanted.name)
        if name in _SPARKS or name in found:
            continue
        distribution = _installed(wanted, must=must)
        if distribution is None:
            continue
        found[name] = distribution
        # Of its own extras, Tidemark needs those that are installed.
        for required in map(Requirement, distribution.requires or ()):
            if name == _OWN or _applies(required, wanted.extras):
                waiting.append((required, name != _OWN))
    return sorted(found.values(), key=lambda one: _normal(one.name))


def _installed(wanted: Requirement, *, must: bool) -> metadata.Distribution | None:
    try:
        return metadata.distribution(wanted.name)
    except metadata.PackageNotFoundError:
        if not must:
            return None
        raise SetupError(
            f"the package {wanted.name} is not installed", hint=f"pip install '{wanted}'"
        ) from None


def _applies(required: Requirement, extras: Collection[str]) -> bool:
    marker = required.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras))


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _files(distributions: Iterable[metadata.Distribution]) -> Iterator[tuple[Path, str]]:
    """The files of packages, each with its name in the archive."""
    for one in distributions:
        for file in one.files or ():
            path = Path(str(file.locate()))
            inside = not file.is_absolute() and ".." not in file.parts
            if inside and _is_needed(path) and path.is_file():
                yield path, file.as_posix()
        if _normal(one.name) == _OWN:
            yield from _own_files(one)


def _own_files(one: metadata.Distribution) -> Iterator[tuple[Path, str]]:
    """Those of Tidemark where it is installed as a checkout, which lists none of them."""
    import tidemark

    if any(file.as_posix() == "tidemark/__init__.py" for file in one.files or ()):
        return
    folder = Path(tidemark.__file__).parent
    for path in folder.rglob("*"):
        if path.is_file() and _is_needed(path):
            yield path, f"tidemark/{path.relative_to(folder).as_posix()}"


def _is_needed(path: Path) -> bool:
    if path.name in _LEFT_OUT or path.suffix in {".pyc", ".pth"}:
        return False
    # Hatch's editable installs have a file of this kind.
    return not path.name.startswith("_editable_impl")
