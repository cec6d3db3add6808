"""Tests that need what a machine may lack: skipped without it, but never in CI."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from servers.missing import Missing


@contextmanager
def needed() -> Iterator[None]:
    try:
        yield
    except Missing as problem:
        if os.environ.get("CI") or os.environ.get("SERVERS_REQUIRED"):
            pytest.fail(f"must be there in CI: {problem}")
        pytest.skip(str(problem))
