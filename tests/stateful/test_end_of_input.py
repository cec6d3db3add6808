"""The marker of the end of a bounded input."""

from __future__ import annotations

from typing import Any, cast

from tidemark.spark.stateful.end_of_input import announce_end, end_folder_ready


def test_the_second_announcement_of_an_end_says_that_there_was_one(tmp_path):
    spark = cast(Any, object())  # not needed for a folder on this machine
    folder = str(tmp_path / "end-0")
    end_folder_ready(spark, folder)

    assert announce_end(spark, folder)
    assert not announce_end(spark, folder)
    # A start that resumes must have something to read.
    names = sorted(file.name for file in (tmp_path / "end-0").iterdir())
    assert names == ["end-1.json", "end.json"]
