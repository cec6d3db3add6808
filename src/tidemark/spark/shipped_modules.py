"""The modules of Python functions, sent to the workers that run them.

A function is pickled as the name of its module, which a worker must be able to import: one on
another machine, or in another folder, could not. Installed packages are not sent.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary
from zipfile import ZIP_DEFLATED, ZipFile

from tidemark.spark.remote import is_remote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_INSTALLED = {"site-packages", "dist-packages"}
_OURS = {"tidemark", "pyspark", "__main__", "__mp_main__"}

# What has been sent to each session, or to the context that sessions share.
_SENT: WeakKeyDictionary[object, set[str]] = WeakKeyDictionary()


def ship(spark: SparkSession, modules: Iterable[str]) -> None:
    """Make the modules importable on workers, with those loaded from the same folders.

    For a package all Python files are sent, otherwise the single modules that are loaded.
    """
    files = sorted(_files_of(modules))
    if not files:
        return
    changed = [(str(path), path.stat().st_mtime_ns, path.stat().st_size) for path, _ in files]
    name = f"tidemark-functions-{hashlib.sha256(repr(changed).encode()).hexdigest()[:16]}.zip"
    place = spark if is_remote(spark) else spark.sparkContext
    sent = _SENT.setdefault(place, set())
    if name not in sent:
        _send(spark, _zipped(files, name))
        sent.add(name)


def _send(spark: SparkSession, archive: Path) -> None:
    if is_remote(spark):
        spark.addArtifacts(str(archive), pyfile=True)
        return
    # Spark would import from its copy here as well, which does not change with the files.
    before = list(sys.path)
    spark.sparkContext.addPyFile(str(archive))
    sys.path[:] = before


def _files_of(modules: Iterable[str]) -> set[tuple[Path, str]]:
    """The files to send, each with its name in an archive."""
    tops = {name.partition(".")[0] for name in modules}
    folders = {folder for top in tops if (folder := _folder_of(top)) is not None}
    loaded = {name.partition(".")[0] for name in list(sys.modules)}
    return {
        (path, path.relative_to(folder).as_posix())
        for top in loaded
        if (folder := _folder_of(top)) in folders and folder is not None
        for path in _files(sys.modules[top], folder / top)
    }


def _folder_of(top: str) -> Path | None:
    """The folder that a user's module was imported from; None if it is not to be sent."""
    module = sys.modules.get(top)
    if module is None or top in _OURS or top in sys.stdlib_module_names:
        return None
    place = _place_of(module)
    if place is None or _INSTALLED & set(place.parts):
        return None
    return place.parent


def _place_of(module: ModuleType) -> Path | None:
    """The file of a module, or the folder of a package, even one without `__init__`."""
    inside = getattr(module, "__path__", None)
    if inside is not None:
        return next((Path(part).resolve() for part in inside if Path(part).is_dir()), None)
    file = getattr(module, "__file__", None)
    return Path(file).resolve() if file is not None and file.endswith(".py") else None


def _files(module: ModuleType, package: Path) -> Iterator[Path]:
    place = _place_of(module)
    if place is None:
        return
    if place.is_dir():
        yield from place.rglob("*.py") if place == package else ()
    elif place.is_file():
        yield place


def _zipped(files: Iterable[tuple[Path, str]], name: str) -> Path:
    archive = _folder() / name
    with ZipFile(archive, "w", ZIP_DEFLATED) as packed:
        folders: set[str] = set()
        for path, inside in files:
            # A package without `__init__` can only be found by its folder.
            folders |= {f"{parent.as_posix()}/" for parent in Path(inside).parents if parent.name}
            packed.write(path, inside)
        for folder in sorted(folders):
            packed.writestr(folder, "")
    return archive


@cache
def _folder() -> Path:
    import atexit
    import shutil

    folder = tempfile.mkdtemp(prefix="tidemark-functions-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
