"""The settings for workers whose Python has no Tidemark: they get an archive with it.

`tidemark pack` makes one; Spark unpacks it in the folder of each executor.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tidemark.errors import SetupError

# The folder that Spark unpacks the archive to, beside the executor.
_FOLDER: Final = "tidemark-packages"
_PYTHONPATH: Final = "spark.executorEnv.PYTHONPATH"


def worker_packages(archive: str | os.PathLike[str]) -> dict[str, str]:
    """The Spark settings with which workers import the packages of an archive from `pack`."""
    place = os.fspath(archive)
    if "://" not in place and not Path(place).is_file():
        raise SetupError(
            f"{place}  there is no such archive", hint=f"make it: tidemark pack {place}"
        )
    return {"spark.archives": f"{place}#{_FOLDER}", _PYTHONPATH: _FOLDER}


def python_of_workers(settings: Mapping[str, str]) -> str | None:
    """The Python that runs an archive's packages; None if no archive is sent."""
    if settings.get(_PYTHONPATH) != _FOLDER:
        return None
    return f"python{sys.version_info[0]}.{sys.version_info[1]}"


def use_packages_of_workers(settings: Mapping[str, str]) -> None:
    """Let Spark run a Python that workers have, here too: it starts some of them on the driver.

    Those import what is installed here.
    """
    python = python_of_workers(settings)
    if python is None or os.environ.get("PYSPARK_PYTHON") not in (None, sys.executable):
        return
    if shutil.which(python) is None:
        raise SetupError(
            f"there is no `{python}` on this machine's PATH",
            notes={"why": "Spark starts the same command on the driver and on its workers"},
            hint=f"install {python}, or name another command by the variable PYSPARK_PYTHON",
        )
    os.environ["PYSPARK_PYTHON"] = python
    here = [path for path in sys.path if Path(path).is_dir() and _has_packages(Path(path))]
    given = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([*here, *([given] if given else [])])


def _has_packages(folder: Path) -> bool:
    return folder.name in {"site-packages", "dist-packages"} or (folder / "tidemark").is_dir()
