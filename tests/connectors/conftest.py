"""The databases of the tests of connector `jdbc`."""

from __future__ import annotations

from typing import Any

import pytest

from tests.connectors.sqlite_file import SqliteFile


@pytest.fixture(scope="module")
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> SqliteFile:
    return SqliteFile.new(tmp_path_factory.mktemp("sqlite"))


@pytest.fixture(scope="module", params=["postgres", "mysql", "sqlite"])
def database(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(request.param)
