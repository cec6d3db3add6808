"""What all tests share: above all, one Spark session, because starting one takes ten seconds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.searching import register_profiles

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

register_profiles()


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Local Spark with the settings that `tidemark.connect()` gives it."""
    from tidemark.spark.settings import start

    session = start({"spark.master": "local[2]", "spark.sql.shuffle.partitions": "2"})
    yield session
    session.stop()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whoever asks for Spark is marked so: `-m "not spark"` leaves the quick tests."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
