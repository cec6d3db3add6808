"""The archive of Java's classes: written by the first start, used by the next, never by halves."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tidemark.spark import machine
from tidemark.spark.class_archive import java_options
from tidemark.spark.defaults import spark_home
from tidemark.spark.settings import ON_THIS_MACHINE

HEADER = bytes.fromhex("a8ab0bf0")


@pytest.fixture
def archives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "archives"
    monkeypatch.setenv("TIDEMARK_CLASS_ARCHIVE", str(folder))
    for variable in ("SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_DIST_CLASSPATH"):
        monkeypatch.delenv(variable, raising=False)
    return folder


@pytest.fixture
def java(tmp_path: Path) -> Path:
    file = tmp_path / "java"
    file.write_text("a Java")
    return file


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    jars = tmp_path / "spark" / "jars"
    jars.mkdir(parents=True)
    (jars / "core.jar").write_text("classes")
    return jars.parent


def written_by(options: str) -> Path:
    """What Java writes at its end."""
    option, _ = options.split()
    name, _, file = option.partition("=")
    assert name == "-XX:ArchiveClassesAtExit"
    return Path(file)


def used_by(options: str) -> Path:
    option, _ = options.split()
    name, _, file = option.partition("=")
    assert name == "-XX:SharedArchiveFile"
    return Path(file)


def test_what_the_first_start_writes_the_next_ones_use(archives: Path, java: Path, installed: Path):
    written_by(java_options(java, installed)).write_bytes(HEADER + b"classes")

    archive = used_by(java_options(java, installed))
    assert archive.parent == archives
    assert archive.read_bytes() == HEADER + b"classes"
    assert used_by(java_options(java, installed)) == archive


@pytest.mark.usefixtures("archives")
def test_an_archive_that_java_still_writes_is_not_used(java: Path, installed: Path):
    unfinished = written_by(java_options(java, installed))
    unfinished.write_bytes(bytes(100))

    assert written_by(java_options(java, installed)) == unfinished


@pytest.mark.usefixtures("archives")
def test_another_java_and_another_spark_have_archives_of_their_own(java: Path, installed: Path):
    first = written_by(java_options(java, installed))
    (installed / "jars" / "core.jar").write_text("other classes")
    second = written_by(java_options(java, installed))
    java.write_text("another Java")

    assert len({first, second, written_by(java_options(java, installed))}) == 3


def test_archives_that_nothing_has_used_for_a_month_are_removed(
    archives: Path, java: Path, installed: Path
):
    archives.mkdir()
    old, unfinished, recent = (archives / f"spark-{n}" for n in ("1.jsa", "2.new", "3.jsa"))
    for file in (old, unfinished, recent):
        file.touch()
    for file in (old, unfinished):
        os.utime(file, (0, 0))

    java_options(java, installed)

    assert [*archives.iterdir()] == [recent]


@pytest.mark.parametrize("folder", ["off", "/with space", "/a:b"])
def test_none_where_there_is_no_place_for_one(
    monkeypatch: pytest.MonkeyPatch, java: Path, installed: Path, folder: str
):
    monkeypatch.setenv("TIDEMARK_CLASS_ARCHIVE", folder)
    assert java_options(java, installed) == ""


@pytest.mark.usefixtures("archives")
def test_none_next_to_a_folder_of_settings_because_java_refuses_that(
    monkeypatch: pytest.MonkeyPatch, java: Path, installed: Path, tmp_path: Path
):
    (tmp_path / "settings").mkdir()
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path / "settings"))
    assert java_options(java, installed)
    (tmp_path / "settings" / "spark-defaults.conf").touch()
    assert java_options(java, installed) == ""


@pytest.mark.usefixtures("archives")
@pytest.mark.slow
def test_java_loads_spark_s_classes_from_the_archive_that_it_has_written():
    java = machine.java()
    assert java is not None
    garbage_collector, *_ = ON_THIS_MACHINE["spark.driver.defaultJavaOptions"].split()

    def loaded() -> str:
        launched = subprocess.run(
            [
                java,
                garbage_collector,
                *java_options(java, spark_home()).split(),
                "-Xlog:class+load:stderr",
                *("-cp", f"{spark_home() / 'jars'}/*", "org.apache.spark.launcher.Main"),
                *("org.apache.spark.deploy.SparkSubmit", "--version"),
            ],
            capture_output=True,
            check=False,  # it misses settings, after its classes have been loaded
            text=True,
        )
        assert "shared archive" not in launched.stdout
        lines = launched.stderr.splitlines()
        return next(line for line in lines if "org.apache.spark.launcher.Main " in line)

    assert "shared objects file (top)" not in loaded()
    assert "shared objects file (top)" in loaded()
