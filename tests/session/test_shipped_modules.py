"""Which files of a user's functions workers are sent, and that these suffice to import them."""

from __future__ import annotations

import importlib
import subprocess
import sys
from zipfile import ZipFile

import pytest

from tidemark.spark.shipped_modules import ship


class Context:
    def __init__(self):
        self.sent = []

    def addPyFile(self, path):  # noqa: N802
        sys.path.insert(1, path)
        self.sent.append(path)


class Spark:
    def __init__(self):
        self.sparkContext = Context()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Modules of a user: two files, a package, and a folder without `__init__`."""
    files = {
        "my_functions.py": "import my_words, my_package.deep.inner, my_folder.other",
        "my_words.py": "WORD = 'tide'",
        "my_unused.py": "",
        "my_package/__init__.py": "",
        "my_package/deep/__init__.py": "",
        "my_package/deep/inner.py": "",
        "my_package/later.py": "",
        "my_folder/other.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.import_module("my_functions")
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("my_")]:
        del sys.modules[name]


def test_loaded_modules_and_whole_packages_of_the_folder_are_sent(folder):
    spark, path = Spark(), list(sys.path)

    ship(spark, ["my_functions"])

    [archive] = spark.sparkContext.sent
    assert [name for name in ZipFile(archive).namelist() if name.endswith(".py")] == [
        "my_folder/other.py",
        "my_functions.py",
        "my_package/__init__.py",
        "my_package/deep/__init__.py",
        "my_package/deep/inner.py",
        "my_package/later.py",
        "my_words.py",
    ]
    assert sys.path == path
    code = f"import sys; sys.path = [{archive!r}, *sys.path]; import my_functions as m; print(m.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd="/", capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == f"{archive}/my_functions.py"


def test_they_are_sent_again_only_when_they_have_changed(folder):
    spark = Spark()
    ship(spark, ["my_functions"])
    ship(spark, ["my_functions"])
    assert len(spark.sparkContext.sent) == 1

    (folder / "my_words.py").write_text("WORD = 'another'")
    ship(spark, ["my_functions"])

    assert len(set(spark.sparkContext.sent)) == 2


@pytest.mark.parametrize("installed", ["json", "numpy", "tidemark.durations", "__main__"])
def test_what_workers_have_already_is_not_sent(installed):
    importlib.import_module(installed)
    spark = Spark()

    ship(spark, [installed])

    assert spark.sparkContext.sent == []
