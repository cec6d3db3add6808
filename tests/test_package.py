"""The package as it is installed: light to import, typed, versioned once, pinned without addresses."""

import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import tidemark
from tidemark.spark import settings

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = sorted((ROOT / "requirements").glob("*.txt"))
HEAVY = {"pyspark", "polars", "pandas", "numpy", "pyarrow"}

SCRIPT = """
CREATE TABLE orders (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'datagen');
CREATE TABLE sink (id INT, ts TIMESTAMP(3)) WITH ('connector' = 'print');
INSERT INTO sink SELECT id + 1, ts FROM orders WHERE id > 3;
"""


def loaded_by(*arguments: str) -> set[str]:
    """The top-level modules that a Python process has loaded by the time it ends."""
    command = [sys.executable, "-X", "importtime", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + "\n".join(done.stderr.splitlines()[-12:])
    return set(re.findall(r"^import time:.*\| +([A-Za-z_]\w*)", done.stderr, re.MULTILINE))


@pytest.mark.parametrize("module", ["tidemark", "tidemark.dialect", "tidemark.plan.planner"])
def test_import_loads_no_heavy_library(module: str):
    loaded = loaded_by("-c", f"import {module}")
    assert "tidemark" in loaded
    assert loaded & HEAVY == set()


@pytest.mark.parametrize(
    ("command", "heavy"),
    # What workers can compute in columns is explained by Polars.
    [("check", HEAVY), ("explain", {"pyspark", "pandas"})],
)
def test_command_that_runs_nothing_loads_no_heavy_library(
    command: str, heavy: set[str], tmp_path: Path
):
    script = tmp_path / "script.sql"
    script.write_text(SCRIPT)
    assert loaded_by("-m", "tidemark", command, str(script)) & heavy == set()


def test_wheel_is_typed_and_licensed(tmp_path: Path):
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "tidemark/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert [name for name in names if name.startswith(("tests", "conformance"))] == []


def test_version_is_defined_in_one_place():
    assert tidemark.__version__ == version("tidemark")
    assert tidemark.__version__ not in (ROOT / "pyproject.toml").read_text()


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda path: path.name)
def test_requirements_are_pinned_with_hashes_and_contain_no_url(path: Path):
    text = path.read_text()
    blocks = re.split(r"\n(?=\w)", re.sub(r"^ *#.*\n", "", text, flags=re.MULTILINE))
    assert "://" not in text
    assert not re.search(r"^--", text, re.MULTILINE)
    assert blocks
    assert [block for block in blocks if "==" not in block or "--hash=sha256:" not in block] == []


def test_every_dependency_is_pinned():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())
    direct = declared["project"]["dependencies"] + declared["dependency-groups"]["dev"]
    names = {re.split(r"[\[<>=!~ ]", dependency)[0].lower() for dependency in direct}
    pinned = set(re.findall(r"^([\w.-]+)==", (ROOT / "requirements/dev.txt").read_text(), re.M))
    assert names - pinned == set()


def test_each_spark_that_is_tested_may_be_installed_and_no_older_one():
    """`make test SPARK=4.2` has `requirements/spark-4.2.txt`."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    [spark] = [wanted for text in declared if (wanted := Requirement(text)).name == "pyspark"]
    others = [path.read_text() for path in REQUIREMENTS if path.name.startswith("spark-")]
    pinned = [re.search(r"^pyspark==(\S+)", text, re.M)[1] for text in others]
    oldest = min(tuple(map(int, version.split(".")[:2])) for version in pinned)

    assert all(version in spark.specifier for version in pinned)
    assert f"{oldest[0]}.{oldest[1] - 1}.9" not in spark.specifier
    assert str(Requirement(settings.PYSPARK).specifier) == str(spark.specifier)
