"""What a path means: which file system, and how it is spelled there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import tidemark
from tidemark.errors import NotSupported
from tidemark.storage import Location, is_local, resolve, shown


def test_s3_means_the_file_system_that_hadoop_calls_s3a() -> None:
    assert resolve("s3://bucket/x") == resolve("S3A://bucket/x/") == "s3a://bucket/x"


@pytest.mark.parametrize(
    "uri", ["hdfs://name:8020/x", "hdfs:///x", "abfss://c@a.dfs.core.windows.net/x"]
)
def test_other_file_systems_keep_their_names(uri: str) -> None:
    assert resolve(uri) == uri and not is_local(uri)


@pytest.mark.parametrize("path", ["out", "./out", "file:out", f"file://{os.getcwd()}/out"])
def test_a_local_path_becomes_absolute(path: str) -> None:
    assert resolve(path) == os.path.join(os.getcwd(), "out")


def test_an_unknown_scheme_is_refused() -> None:
    with pytest.raises(NotSupported, match="'ftp' is not a file system that Tidemark knows") as no:
        resolve("ftp://host/x")

    assert "s3a://" in str(no.value.hint)


def test_a_bucket_must_be_named() -> None:
    with pytest.raises(NotSupported, match="names no bucket"):
        resolve("s3:///x")


def test_a_password_in_a_uri_is_not_shown() -> None:
    assert shown("s3a://key:secret@bucket/x") == "s3a://key:***@bucket/x"
    assert "secret" not in str(Location.of("s3a://key:secret@bucket/x"))


def test_a_checkpoint_of_an_unknown_scheme_is_refused_when_it_is_named() -> None:
    with pytest.raises(NotSupported, match="cannot write to ftp://host/x"):
        tidemark.connect(checkpoint="ftp://host/x")


def test_a_checkpoint_in_a_bucket_makes_no_folder_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    session = tidemark.connect(checkpoint="s3://bucket/x")

    assert session._checkpoint == Location.of("s3a://bucket/x")
    assert list(tmp_path.iterdir()) == []


def test_spark_is_given_local_paths_with_their_scheme(tmp_path: Path) -> None:
    assert (Location.of(tmp_path) / "x").for_spark == f"file://{tmp_path}/x"
    assert (Location.of("s3://b") / "x").for_spark == "s3a://b/x"
