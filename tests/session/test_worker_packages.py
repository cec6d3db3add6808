"""What workers of a cluster import that have no Tidemark of their own."""

from __future__ import annotations

import os
import sys
import tarfile
from pathlib import Path

import pytest

import tidemark
from tidemark.cli.packing import pack
from tidemark.errors import SetupError
from tidemark.spark.worker_packages import python_of_workers, use_packages_of_workers


def distribution(site: Path, name: str, *requires: str) -> None:
    """A package that is installed in a folder."""
    (site / name).mkdir()
    (site / name / "__init__.py").write_text(f"NAME = {name!r}\n")
    info = site / f"{name}-1.0.dist-info"
    info.mkdir()
    lines = [f"Requires-Dist: {one}" for one in requires]
    (info / "METADATA").write_text("\n".join([f"Name: {name}", "Version: 1.0", *lines, ""]))
    (info / "direct_url.json").write_text('{"url": "file:///somewhere/private"}')
    (site / name / "__init__.pyc").touch()
    names = [f"{name}/__init__.py", f"{name}/__init__.pyc", "../../bin/command"]
    record = [
        f"{one},," for one in [*names, f"{info.name}/METADATA", f"{info.name}/direct_url.json"]
    ]
    (info / "RECORD").write_text("\n".join(record))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return folder


def names_in(archive: Path) -> list[str]:
    with tarfile.open(archive) as packed:
        return sorted(packed.getnames())


def test_an_archive_has_what_a_package_requires_and_not_what_spark_brings(tmp_path, site):
    distribution(site, "harbor", "Pier_Head>=1", "pyspark", "absent; extra == 'never'")
    distribution(site, "pier_head", "buoy; python_version >= '3.0'", "harbor")
    distribution(site, "buoy")

    packed = pack(tmp_path / "out" / "packages.tar.gz", ["harbor"])

    assert packed == ["buoy 1.0", "harbor 1.0", "pier_head 1.0"]
    assert names_in(tmp_path / "out" / "packages.tar.gz") == [
        *("buoy-1.0.dist-info/METADATA", "buoy/__init__.py"),
        *("harbor-1.0.dist-info/METADATA", "harbor/__init__.py"),
        *("pier_head-1.0.dist-info/METADATA", "pier_head/__init__.py"),
    ]


def test_extras_that_are_asked_for_are_packed(tmp_path, site):
    distribution(site, "harbor", "pilot; extra == 'night'")
    distribution(site, "pilot")

    assert pack(tmp_path / "day.tar.gz", ["harbor"]) == ["harbor 1.0"]
    assert pack(tmp_path / "night.tar.gz", ["harbor[night]"]) == ["harbor 1.0", "pilot 1.0"]


def test_a_package_that_is_not_installed_is_named_and_nothing_is_written(tmp_path, site):
    distribution(site, "harbor", "lighthouse>=2")

    with pytest.raises(SetupError, match="the package lighthouse is not installed") as refused:
        pack(tmp_path / "packages.tar.gz", ["harbor"])

    assert refused.value.hint == "pip install 'lighthouse>=2'"
    assert [*tmp_path.glob("*packages*")] == []


def test_the_settings_send_an_archive_to_workers(tmp_path):
    archive = tmp_path / "packages.tar.gz"
    archive.touch()

    settings = tidemark.worker_packages(archive)

    assert settings == {
        "spark.archives": f"{archive}#tidemark-packages",
        "spark.executorEnv.PYTHONPATH": "tidemark-packages",
    }
    assert python_of_workers(settings) == f"python3.{sys.version_info[1]}"
    assert python_of_workers({"spark.executorEnv.PYTHONPATH": "/opt/python"}) is None


def test_an_archive_that_is_not_there_is_refused_but_one_elsewhere_is_left_to_spark(tmp_path):
    with pytest.raises(SetupError, match="there is no such archive"):
        tidemark.worker_packages(tmp_path / "packages.tar.gz")

    assert "spark.archives" in tidemark.worker_packages("s3a://bucket/packages.tar.gz")


def test_the_driver_runs_the_python_of_its_workers_with_its_own_packages(tmp_path, monkeypatch):
    archive = tmp_path / "packages.tar.gz"
    archive.touch()
    python = tmp_path / "bin" / f"python3.{sys.version_info[1]}"
    python.parent.mkdir()
    python.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(python.parent))
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("PYTHONPATH", "/given")

    use_packages_of_workers(tidemark.worker_packages(archive))

    assert os.environ["PYSPARK_PYTHON"] == python.name
    *found, given = os.environ["PYTHONPATH"].split(os.pathsep)
    assert given == "/given"
    assert any((Path(folder) / "polars").is_dir() for folder in found)
    assert any((Path(folder) / "tidemark").is_dir() for folder in found)


def test_a_python_that_the_driver_does_not_have_is_named(tmp_path, monkeypatch):
    archive = tmp_path / "packages.tar.gz"
    archive.touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)

    with pytest.raises(SetupError, match="on this machine's PATH") as refused:
        use_packages_of_workers(tidemark.worker_packages(archive))

    assert refused.value.hint is not None and "PYSPARK_PYTHON" in refused.value.hint


def test_a_python_that_was_chosen_is_kept(tmp_path, monkeypatch):
    archive = tmp_path / "packages.tar.gz"
    archive.touch()
    monkeypatch.setenv("PYSPARK_PYTHON", "/opt/python")

    use_packages_of_workers(tidemark.worker_packages(archive))

    assert os.environ["PYSPARK_PYTHON"] == "/opt/python"
