"""An archive of the Java classes that Spark loads, with which it starts in half the time.

Java writes it when the first Spark on this machine ends, after the command that started it, and
checks at each start that it fits. Half a file would crash Java, so another name says that it is
whole: the next start gives it that name, if Java has written the header, which comes last.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

# A folder for the archives instead of that of the user's caches; `off` for none.
VARIABLE: Final = "TIDEMARK_CLASS_ARCHIVE"

_MAGIC: Final = (0xF00BABA8).to_bytes(4, "little")
# An archive takes less than a quarter of it.
_FREE_BYTES: Final = 1 << 30
_KEPT_SECONDS: Final = 30 * 24 * 3600
# Java would warn of an archive that does not fit, and of each class that it cannot archive.
_SILENT: Final = "-Xlog:cds*=off"


def java_options(java: Path, spark_home: Path) -> str:
    """Options for a Java that uses the archive, or writes it if there is none."""
    folder = _folder()
    if folder is None:
        return ""
    try:
        if _has_other_classes(spark_home):
            return ""
        return _options(folder / f"spark-{_key(java, spark_home)}.jsa")
    except OSError:
        # Spark starts without it, too.
        return ""


def _options(archive: Path) -> str:
    # Java replaces what it has not written to the end.
    unnamed = archive.with_suffix(".new")
    if not archive.exists() and _is_whole(unnamed):
        unnamed.replace(archive)
    if archive.exists():
        os.utime(archive)
        return f"-XX:SharedArchiveFile={archive} {_SILENT}"
    archive.parent.mkdir(parents=True, exist_ok=True)
    _remove_unused(archive.parent)
    if shutil.disk_usage(archive.parent).free < _FREE_BYTES:
        return ""
    return f"-XX:ArchiveClassesAtExit={unnamed} {_SILENT}"


def _folder() -> Path | None:
    chosen = os.environ.get(VARIABLE)
    if os.name != "posix" or chosen == "off":
        return None
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = Path(chosen or os.path.join(caches, "tidemark")).absolute()
    # Java would split the option.
    return None if any(c.isspace() or c in ":\"'\\" for c in str(folder)) else folder


def _has_other_classes(spark_home: Path) -> bool:
    """Whether the class path has more than Spark's jars: Java archives nothing if a folder of
    settings is on it.
    """
    chosen = map(os.environ.get, ("SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR"))
    folders = [spark_home / "conf", *(Path(folder) for folder in chosen if folder)]
    return "SPARK_DIST_CLASSPATH" in os.environ or any(map(_has_files, folders))


def _has_files(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())


def _key(java: Path, spark_home: Path) -> str:
    """Differs for each Java, and each Spark that is installed."""
    parts = [*_identity(java.resolve())]
    for jar in sorted((spark_home / "jars").iterdir()):
        parts += _identity(jar)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _identity(file: Path) -> Iterator[str]:
    status = file.stat()
    yield from (str(file), str(status.st_size), str(status.st_mtime_ns))


def _is_whole(file: Path) -> bool:
    """Whether Java has written it to the end; then it is on the disk, too, even after a crash."""
    try:
        with file.open("rb") as opened:
            whole = opened.read(len(_MAGIC)) == _MAGIC
            os.fsync(opened.fileno())
    except FileNotFoundError:
        return False
    return whole


def _remove_unused(folder: Path) -> None:
    for archive in (*folder.glob("spark-*.jsa"), *folder.glob("spark-*.new")):
        with suppress(FileNotFoundError):
            if time.time() - archive.stat().st_mtime > _KEPT_SECONDS:
                archive.unlink()
