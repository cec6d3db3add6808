"""The folders of one job: its own, and the one in which its workers leave rows for each other."""

from __future__ import annotations

import shutil
import tempfile
import uuid
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tidemark.spark.file_systems import access_of
from tidemark.spark.first_start import FirstStart
from tidemark.spark.remote import is_remote
from tidemark.storage import Location

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class JobFolders:
    """Folders of a job, created on first use.

    Its own is `kept` if given: a checkpoint. All others are temporary. If all of Spark is on this
    machine, they are among Spark's own, which it removes at its end, and all of its workers see
    them.
    """

    def __init__(self, spark: SparkSession, kept: Location | None = None) -> None:
        self._kept = kept
        self._spark = spark
        self._shared = not is_remote(spark) and _on_one_machine(spark)

    @property
    def shared(self) -> bool:
        """Whether all workers see the job's own folder; a checkpoint must be where they do."""
        return self._shared or self._kept is not None

    @cached_property
    def own(self) -> Location:
        return self._kept or Location.of(self._temporary, access_of(self._spark))

    @property
    def payloads(self) -> str | None:
        """None if there is no folder that all workers see."""
        return str(self._temporary / "payloads") if self._shared else None

    def first_start(self, now: FirstStart) -> FirstStart:
        """When and with which seed the job started: now, or when its checkpoint was created."""
        return now if self._kept is None else now.kept_in(self._kept)

    def remove(self) -> None:
        """Remove what is temporary, once the job has ended."""
        if "_temporary" in self.__dict__:
            shutil.rmtree(self._temporary, ignore_errors=True)

    @cached_property
    def _temporary(self) -> Path:
        if not self._shared:
            return Path(tempfile.mkdtemp(prefix="tidemark-"))
        from pyspark import SparkFiles

        folder = Path(SparkFiles.getRootDirectory()) / f"tidemark-{uuid.uuid4().hex}"
        folder.mkdir(mode=0o700)
        return folder


def _on_one_machine(spark: SparkSession) -> bool:
    master = spark.conf.get("spark.master") or ""
    return master == "local" or master.startswith("local[")
