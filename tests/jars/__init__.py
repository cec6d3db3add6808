"""Jars that tests give Spark."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench.jars import NoJars, fetched

HERE = Path(__file__).resolve().parent


def jars_of(name: str) -> list[Path]:
    """Those that `NAME.xml` asks for. Skips the test where they cannot be had, but never in CI."""
    wanted = HERE / f"{name}.xml"
    try:
        return fetched(wanted)
    except NoJars as problem:
        if os.environ.get("CI") or os.environ.get("JARS_REQUIRED"):
            pytest.fail(f"the jars of {wanted.name} must be there in CI: {problem}")
        pytest.skip(f"the jars of {wanted.name} cannot be had: {problem}")
