"""On one machine Java sets the permissions of files without a process for each."""

from __future__ import annotations

import stat

import pytest

from tidemark.spark.local_files import _CLASS, set_permissions_in_java


def file_system(spark, path):
    java = spark._jvm
    place = java.org.apache.hadoop.fs.Path(f"file:{path}")
    return place, place.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())


def test_files_of_the_session_are_written_so(spark, tmp_path):
    _, files = file_system(spark, tmp_path)

    assert files.getClass().getName() == _CLASS


@pytest.mark.parametrize(("mode", "wanted"), [("640", 0o640), ("1777", 0o1777), ("000", 0)])
def test_permissions_are_what_was_asked_for(spark, tmp_path, mode, wanted):
    path = tmp_path / "a file with 'quotes'"
    path.mkdir()
    place, files = file_system(spark, path)

    files.setPermission(place, spark._jvm.org.apache.hadoop.fs.permission.FsPermission(mode))

    assert stat.S_IMODE(path.stat().st_mode) == wanted
    path.chmod(0o700)


def test_a_missing_file_is_an_error(spark, tmp_path):
    place, files = file_system(spark, tmp_path / "missing")

    with pytest.raises(Exception, match="NoSuchFileException"):
        files.setPermission(place, spark._jvm.org.apache.hadoop.fs.permission.FsPermission("644"))


def test_a_file_system_that_the_user_has_chosen_stays(spark, tmp_path):
    settings = spark.sparkContext._jsc.hadoopConfiguration()
    _, before = file_system(spark, tmp_path)
    settings.set("fs.file.impl", "org.apache.hadoop.fs.LocalFileSystem")
    try:
        set_permissions_in_java(spark)
        _, after = file_system(spark, tmp_path)
    finally:
        settings.unset("fs.file.impl")

    assert after.equals(before)
