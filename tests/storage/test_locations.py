"""Files and folders: the same on this machine, in an object store and where nothing replaces."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from servers.s3 import Endpoint
from tidemark.errors import SetupError
from tidemark.storage import Found, Location


@pytest.fixture(params=["local", "s3", "no-replace"])
def folder(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Location:
    if request.param == "s3":
        here: Endpoint = request.getfixturevalue("s3")
        return here.at(f"s3://bucket/{tmp_path.name}/a b%20#é")
    if request.param == "no-replace":
        monkeypatch.setattr(Location, "_replaces", property(lambda _: False))
    return Location.of(tmp_path / "a b%20#é")


def test_a_new_location_does_not_exist(folder: Location) -> None:
    assert not folder.exists and not folder.is_file
    assert folder.files() == []
    assert (folder / "x").read() is None


def test_a_file_is_written_and_read_completely(folder: Location) -> None:
    (folder / "x").write(b"one")
    (folder / "x").write(b"another")

    assert (folder / "x").read() == b"another"
    assert (folder / "x").is_file and not folder.is_file and folder.exists
    assert folder.files() == [Found("x", 7)]


def test_files_are_found_below_a_folder(folder: Location) -> None:
    for name in ("b", "a", "sub/c"):
        (folder / name).write(b"")

    assert [found.name for found in folder.files()] == ["a", "b", "sub/c"]
    assert [found.name for found in folder.files(below=False)] == ["a", "b"]


def test_a_file_moves_over_another(folder: Location) -> None:
    (folder / "old").write(b"old")
    (folder / "stage" / "new").write(b"new")

    (folder / "stage" / "new").move(folder / "old")

    assert [(f.name, (folder / f.name).read()) for f in folder.files()] == [("old", b"new")]


def test_a_folder_moves_and_is_copied_with_all_that_is_in_it(folder: Location) -> None:
    (folder / "old" / "sub" / "x").write(b"x")

    (folder / "old").move_folder(folder / "new")
    (folder / "new" / "sub" / "x").copy(folder / "copy" / "x")

    assert [found.name for found in folder.files()] == ["copy/x", "new/sub/x"]
    assert folder.names() == ["copy", "new"]
    assert (folder / "copy" / "x").names() == [] == (folder / "nowhere").names()


def test_removing_what_is_not_there_is_fine(folder: Location) -> None:
    (folder / "a" / "b").write(b"")
    for _ in range(2):
        (folder / "a").remove_all()
        (folder / "x").remove()

    assert folder.files() == []


def test_a_write_is_finished_that_a_crash_cut_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a file must go before another takes its name, a crash may come between."""
    monkeypatch.setattr(Location, "_replaces", property(lambda _: False))
    note = Location.of(tmp_path / "note")
    note.write(b"before")
    (tmp_path / "note").unlink()
    (tmp_path / ".note.new").write_bytes(b"after")

    assert note.read() == b"after"
    assert [path.name for path in tmp_path.iterdir()] == ["note"]


def test_a_writer_that_fails_in_an_object_store_leaves_the_object_as_it_was(s3: Endpoint) -> None:
    note = s3.at("s3://bucket/note")
    note.write(b"before")

    with pytest.raises(OSError, match="NO_SUCH_BUCKET"):
        (s3.at("s3://missing") / "note").write(b"x")

    assert note.read() == b"before"


def test_an_endpoint_that_does_not_answer_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        nobody = Endpoint(free.getsockname()[1])

    with pytest.raises(SetupError, match="s3a://bucket/x cannot be reached"):
        _ = nobody.at("s3://bucket/x").exists


def test_hdfs_without_hadoop_is_an_error_that_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HADOOP_HOME", "ARROW_LIBHDFS_DIR"):
        monkeypatch.delenv(name, raising=False)

    with pytest.raises(SetupError, match="HDFS cannot be reached") as caught:
        _ = Location.of("hdfs://localhost:1/x").exists

    assert "libhdfs" in str(caught.value.hint)
