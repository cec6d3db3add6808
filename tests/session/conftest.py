"""What several tests of sessions share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from .stories import Story


@pytest.fixture
def event_story(spark: SparkSession, tmp_path: Path) -> Iterator[Story]:
    """A story of one table, `ev`."""
    from .stories import Story

    story = Story(spark, tmp_path, ("ev",))
    yield story
    story.end()
