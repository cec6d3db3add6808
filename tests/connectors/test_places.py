"""Paths, globs, hidden files and partition folders."""

import os
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.connectors.filesystem.places import Place, as_hadoop_glob, partition_folder


def make(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")


def found(folder, path=None):
    return [os.path.relpath(f, folder) for f in Place.of(str(path or folder)).files()]


def test_files_are_sorted_by_name_and_found_in_subfolders(tmp_path):
    make(tmp_path, "b", "a", "sub/c")

    assert found(tmp_path) == ["a", "b", "sub/c"]


def test_hidden_files_and_folders_are_not_data(tmp_path):
    make(tmp_path, "a", "_SUCCESS", ".part.crc", "_tmp/x", ".staging-1/part", "sub/.hidden")

    assert found(tmp_path) == ["a"]


def test_a_glob_finds_what_it_matches(tmp_path):
    make(tmp_path, "a.json", "b.json", "c.csv", "_d.json", "sub/e.json")

    assert found(tmp_path, tmp_path / "*.json") == ["a.json", "b.json"]
    assert found(tmp_path, tmp_path / "**" / "*.json") == ["a.json", "b.json", "sub/e.json"]


def test_a_name_with_a_star_in_it_is_a_name_if_it_is_there(tmp_path):
    make(tmp_path, "x*.json", "xy.json")

    assert found(tmp_path, tmp_path / "x*.json") == ["x*.json"]


@pytest.mark.parametrize("spelling", ["file://{}", "file:{}", "file://localhost{}", "{}"])
def test_a_local_path_may_have_a_scheme(tmp_path, spelling):
    assert Place.of(spelling.format(tmp_path)) == Place(str(tmp_path), local=True)


def test_other_schemes_are_left_to_spark():
    assert Place.of("s3a://bucket/x") == Place("s3a://bucket/x", local=False)


def test_a_relative_path_starts_at_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert Place.of("data").path == str(tmp_path / "data")


def test_what_a_glob_reader_would_expand_is_escaped():
    assert as_hadoop_glob("a*b?[c]{d}\\") == "a\\*b\\?\\[c\\]\\{d\\}\\\\"


def test_partition_folders_are_named_as_flink_names_them():
    # Confirmed on Flink 2.3.
    assert partition_folder({"k": "1", "l": "a/b=c"}, "DEFAULT") == "k=1/l=a%2Fb%3Dc"
    assert partition_folder({"l": "é%:*?"}, "DEFAULT") == "l=é%25%3A%2A%3F"
    assert partition_folder({"k": None, "l": ""}, "DEFAULT") == "k=DEFAULT/l=DEFAULT"


@given(st.dictionaries(st.text(min_size=1), st.text(min_size=1), min_size=1))
def test_a_partition_folder_can_be_read_back(values):
    pairs = (part.split("=", 1) for part in partition_folder(values, "DEFAULT").split("/"))

    assert {unquote(k): unquote(v) for k, v in pairs} == values
