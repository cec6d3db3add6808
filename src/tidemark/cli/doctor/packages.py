"""Python and the packages that Tidemark requires."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import metadata

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from tidemark.cli.doctor.findings import Finding

PYTHON = "Python"
CONNECT = "Spark Connect"

# What Spark's client needs to connect to a server; `pip install 'tidemark[connect]'` installs it.
_CONNECT_PACKAGES = ("grpcio", "grpcio-status", "googleapis-common-protos", "zstandard")


def check_python() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    wanted = metadata.metadata("tidemark")["Requires-Python"] or ">=3.11"
    if version in SpecifierSet(wanted):
        yield Finding(PYTHON, "Python", "ok", f"{version}, {sys.executable}")
    else:
        todo = f"install Tidemark with a Python {wanted}"
        yield Finding(PYTHON, "Python", "missing", f"{version}, needs {wanted}", todo)


def check_packages(installed: Callable[[str], str] = metadata.version) -> Iterator[Finding]:
    for requirement in requirements(metadata.requires("tidemark") or []):
        yield _check_package(requirement, installed)


def check_connect(installed: Callable[[str], str] = metadata.version) -> Iterator[Finding]:
    for name in _CONNECT_PACKAGES:
        try:
            yield Finding(CONNECT, name, "ok", installed(name))
        except metadata.PackageNotFoundError:
            detail = (
                "not installed; only needed for a remote Spark: pip install 'tidemark[connect]'"
            )
            yield Finding(CONNECT, name, "optional", detail)


def requirements(strings: Iterable[str]) -> Iterator[Requirement]:
    """The requirements that apply here without any extra."""
    for requirement in map(Requirement, strings):
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield requirement


def _check_package(wanted: Requirement, installed: Callable[[str], str]) -> Finding:
    todo = f"pip install '{wanted.name}{wanted.specifier}'"
    needs = f"needs {wanted.specifier}" if wanted.specifier else "needed"
    try:
        version = installed(wanted.name)
    except metadata.PackageNotFoundError:
        return Finding(PYTHON, wanted.name, "missing", f"not installed, {needs}", todo)
    if version in wanted.specifier:
        return Finding(PYTHON, wanted.name, "ok", version)
    return Finding(PYTHON, wanted.name, "missing", f"{version}, {needs}", todo)
