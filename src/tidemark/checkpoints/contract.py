"""The contract of a job's checkpoint: written at the job's first start, kept at each later one."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import Any

from tidemark import __version__
from tidemark.checkpoints import files
from tidemark.errors import JobError
from tidemark.plan.kept_state import KeptColumn, KeptState
from tidemark.storage import Location

# A contract has the earliest format whose versions can resume. Those before 2 would read other
# sources than `readings` says; those before 3 only know values of aggregates that are in lists;
# those before 4 would read a clock to forget idle keys.
FORMATS = FORMAT, _WITH_READINGS, _, _WITHOUT_CLOCK = 1, 2, 3, 4
NAME = "contract.json"
# What versions before the first contract wrote instead.
_BEFORE_CONTRACTS = "query.json"
SPARK = "spark"  # the folder of Spark's own checkpoint
SEGMENTS = "segments"  # that of the large parts of state to which Spark's refers


@dataclass(frozen=True, slots=True)
class SourceTable:
    """A table that a job reads. Spark identifies its sources by their position."""

    table: str
    connector: str
    path: str | None = None
    bounded: bool = False
    # Whether an operator waits for its end; Spark then has an additional source.
    watermark: bool = False

    def goes_on(self, other: SourceTable) -> bool:
        """Whether the recorded progress of the other source is valid for this one."""
        same_place = self.path is not None and self.path == other.path
        return (same_place or self.table == other.table) and self._kind == other._kind

    @property
    def _kind(self) -> tuple[str, bool, bool]:
        return self.connector, self.bounded, self.watermark

    def __str__(self) -> str:
        ends = "bounded" if self.bounded else "unbounded"
        place = f" at {self.path}" if self.path else ""
        watermark = ", with a watermark" if self.watermark else ""
        return f"`{self.table}` ({self.connector}{place}, {ends}{watermark})"


@dataclass(frozen=True, slots=True)
class Contract:
    """What a checkpoint guarantees to a job that resumes from it.

    `key_groups` is the number of groups into which keys fall by their hash. It is fixed for the
    life of the checkpoint, and so is Spark's number of partitions, among which groups are
    distributed. The `readings` say which of the plan's scans are one source of Spark, by their
    places among all; None as long as that is not decided. Operators that forget idle keys look at
    a `retention_clock`, another source, if the job has started with a format before 4.
    """

    job: str
    key_groups: int
    shuffle_partitions: int
    operators: tuple[KeptState, ...]
    sources: tuple[SourceTable, ...]
    spark: str
    tidemark: str = __version__
    readings: tuple[tuple[int, ...], ...] | None = None
    retention_clock: bool = True

    @property
    def format(self) -> int:
        needed = [FORMAT, *(operator.format for operator in self.operators)]
        if self.readings:
            needed.append(_WITH_READINGS)
        if not self.retention_clock:
            needed.append(_WITHOUT_CLOCK)
        return max(needed)

    def as_json(self) -> str:
        values = {"format": self.format, **asdict(self)}
        if not self.readings:
            del values["readings"]
        if self.retention_clock:
            del values["retention_clock"]
        for kept, operator in zip(self.operators, values["operators"], strict=True):
            operator["hash"] = kept.hash
        return json.dumps(values, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def of_json(cls, values: dict[str, Any]) -> Contract:
        operators = tuple(
            KeptState(
                operator["id"],
                operator["kind"],
                operator["meaning"],
                tuple(tuple(KeptColumn(**column) for column in rows) for rows in operator["rows"]),
                operator.get("format", FORMAT),
            )
            for operator in values["operators"]
        )
        sources = tuple(SourceTable(**source) for source in values["sources"])
        readings = tuple(tuple(places) for places in values.get("readings", ()))
        return cls(**{**values, "operators": operators, "sources": sources, "readings": readings})

    def goes_on_as(self, now: Contract) -> Contract:
        """The contract once a job has resumed: what is fixed stays, the rest is that of the
        current script.
        """
        return replace(
            now,
            key_groups=self.key_groups,
            shuffle_partitions=self.shuffle_partitions,
            readings=self.readings,
            retention_clock=self.retention_clock,
        )


def folder_name(job: str) -> str:
    """The name of a job's folder in the checkpoint folder."""
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in job)


def read(folder: Location) -> Contract | None:
    """The contract in the folder of a job; None if no job has started there yet.

    Raises JobError if there is something that a job cannot resume from.
    """
    content = files.read_text(folder / NAME)
    if content is None:
        _refuse_what_is_older(folder)
        return None
    values = _parsed(folder, content)
    found = values.pop("format", None)
    if found not in FORMATS:
        raise JobError(
            f"the checkpoint in {folder} has format {found}, but this version of Tidemark reads "
            f"formats {FORMATS[0]} to {FORMATS[-1]}",
            notes={"written by": f"Tidemark {values.get('tidemark')}", "this version": __version__},
            hint="resume with that version, or start over with another checkpoint folder",
        )
    return _complete(folder, values)


def write(folder: Location, contract: Contract) -> None:
    files.write_text(folder / NAME, contract.as_json())


def _parsed(folder: Location, content: str) -> dict[str, Any]:
    try:
        values = json.loads(content)
        if isinstance(values, dict):
            return values
    except ValueError:
        pass
    raise _damaged(folder)


def _complete(folder: Location, values: dict[str, Any]) -> Contract:
    try:
        return Contract.of_json(
            {
                **values,
                "operators": [
                    {name: value for name, value in operator.items() if name != "hash"}
                    for operator in values["operators"]
                ],
            }
        )
    except (KeyError, TypeError):
        raise _damaged(folder) from None


def _damaged(folder: Location) -> JobError:
    return JobError(
        f"{folder / NAME} is damaged",
        hint="resume from a copy of the checkpoint, or start over with another checkpoint folder",
    )


def _refuse_what_is_older(folder: Location) -> None:
    if (folder / _BEFORE_CONTRACTS).exists or (folder / SPARK).exists:
        raise JobError(
            f"the checkpoint in {folder} was written by a version of Tidemark that did not record "
            "the number of key groups, so its state cannot be read safely",
            hint="start over with another checkpoint folder, or let the version "
            "that wrote it finish the job",
        )
