"""Python and the packages that Tidemark was declared to need."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from typing import NamedTuple

from tidemark.cli.doctor.findings import Finding

PYTHON = "Python"
CONNECT = "Spark Connect"

_REQUIREMENT = re.compile(
    r"^(?P<name>[\w.-]+)(?:\[[^\]]*\])?\s*(?P<versions>[^;]*)(?:;(?P<when>.*))?$"
)
_CLAUSE = re.compile(r"(>=|<=|==|!=|<|>)\s*([\w.]+)")
# What Spark's client needs to talk to a server; `pip install 'tidemark[connect]'` brings them.
_CONNECT_PACKAGES = ("grpcio", "grpcio-status", "googleapis-common-protos", "zstandard")


class Requirement(NamedTuple):
    name: str
    versions: str


def check_python() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    wanted = metadata.metadata("tidemark")["Requires-Python"] or ">=3.11"
    if satisfies(version, wanted):
        yield Finding(PYTHON, "Python", "ok", f"{version}, {sys.executable}")
    else:
        todo = f"install Tidemark with a Python {wanted}"
        yield Finding(PYTHON, "Python", "missing", f"{version}, needs {wanted}", todo)


def check_packages(installed: Callable[[str], str] = metadata.version) -> Iterator[Finding]:
    for name, versions in requirements(metadata.requires("tidemark") or []):
        yield _check_package(name, versions, installed)


def check_connect(installed: Callable[[str], str] = metadata.version) -> Iterator[Finding]:
    for name in _CONNECT_PACKAGES:
        try:
            yield Finding(CONNECT, name, "ok", installed(name))
        except metadata.PackageNotFoundError:
            detail = "not installed; only for a remote Spark: pip install 'tidemark[connect]'"
            yield Finding(CONNECT, name, "optional", detail)


def requirements(texts: list[str]) -> Iterator[Requirement]:
    """The requirements that hold without any extra."""
    for text in texts:
        found = _REQUIREMENT.match(text)
        if found and "extra" not in (found["when"] or ""):
            yield Requirement(found["name"], found["versions"].strip(" ()"))


def _check_package(name: str, versions: str, installed: Callable[[str], str]) -> Finding:
    todo = f"pip install '{name}{versions}'"
    try:
        version = installed(name)
    except metadata.PackageNotFoundError:
        return Finding(PYTHON, name, "missing", f"not installed, needs {versions}", todo)
    if satisfies(version, versions):
        return Finding(PYTHON, name, "ok", version)
    return Finding(PYTHON, name, "missing", f"{version}, needs {versions}", todo)


def satisfies(version: str, versions: str) -> bool:
    """Whether a version lies in a range such as `>=4.3,<4.4`; only release numbers count."""
    have = _numbers(version)
    compare: dict[str, Callable[[tuple[int, ...]], bool]] = {
        ">=": lambda bound: have >= bound,
        "<=": lambda bound: have <= bound,
        "==": lambda bound: have == bound,
        "!=": lambda bound: have != bound,
        "<": lambda bound: have < bound,
        ">": lambda bound: have > bound,
    }
    return all(compare[sign](_numbers(bound)) for sign, bound in _CLAUSE.findall(versions))


def _numbers(version: str) -> tuple[int, ...]:
    release = re.match(r"\d+(?:\.\d+)*", version)
    numbers = [int(part) for part in release[0].split(".")] if release else []
    while numbers and numbers[-1] == 0:  # 4.3 and 4.3.0 are the same
        numbers.pop()
    return tuple(numbers)
