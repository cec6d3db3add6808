"""Rows of a changelog as versions."""

from __future__ import annotations

import polars as pl

from tidemark.kernels.columns import KIND
from tidemark.kernels.temporal_join.versions import ENDS, as_versions

# As many as Polars filters on several threads.
MANY = 100_000


def test_however_many_rows_there_are_without_kinds_each_is_a_version() -> None:
    rows = pl.DataFrame({"currency": range(MANY)})

    versions = as_versions(rows, ignored=("-U",))

    assert versions.height == MANY
    assert not versions[ENDS].any()


def test_a_deleted_row_ends_a_version_and_an_ignored_one_does_not() -> None:
    rows = pl.DataFrame({"currency": [1, 2, 3], KIND: ["+I", "-U", "-D"]})

    versions = as_versions(rows, ignored=("-U",))

    assert versions.rows() == [(1, False), (3, True)]
