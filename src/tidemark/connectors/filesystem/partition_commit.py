"""When the partitions of a file sink are complete: by processing time, or by the watermark."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any
from urllib.parse import unquote
from zoneinfo import ZoneInfo

from tidemark.catalog.tables import Table
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.filesystem.partition_times import NoTime, PartitionTimes, expression_of
from tidemark.connectors.options import option_error
from tidemark.errors import DataError, OptionError

PREFIX = "sink.partition-commit"
EXTRACTOR = "partition.time-extractor"
OPTIONS = (
    OptionSpec(
        f"{EXTRACTOR}.kind",
        default="default",
        summary="`default`; `custom`, a Java class, is rejected",
    ),
    OptionSpec(f"{EXTRACTOR}.class", summary="rejected: Java classes cannot run here"),
    OptionSpec(
        f"{EXTRACTOR}.timestamp-pattern",
        summary="how partition values form a time: `$dt $hour:00:00`; by default, the first value "
        "is the time",
    ),
    OptionSpec(
        f"{EXTRACTOR}.timestamp-formatter",
        summary="the pattern of that time, in Java's letters (yMdHmsS): `yyyyMMdd`; by default, "
        "`yyyy-MM-dd` or `yyyy-MM-dd HH:mm:ss`",
    ),
    OptionSpec(
        f"{PREFIX}.policy.kind",
        summary="`success-file` writes an empty file to each partition that is complete; without "
        "this option, nothing is committed",
    ),
    OptionSpec(f"{PREFIX}.policy.class", summary="rejected: Java classes cannot run here"),
    OptionSpec(f"{PREFIX}.policy.class.parameters", summary="rejected with the class"),
    OptionSpec(
        f"{PREFIX}.success-file.name", default="_SUCCESS", summary="the name of the success file"
    ),
    OptionSpec(
        f"{PREFIX}.trigger",
        "enum",
        "process-time",
        choices=("process-time", "partition-time"),
        summary="what completes a partition: the processing time since its first rows arrived, or "
        "the watermark passing its time",
    ),
    OptionSpec(f"{PREFIX}.delay", "duration", 0, summary="how much longer to wait"),
    OptionSpec(
        f"{PREFIX}.watermark-time-zone",
        default="UTC",
        summary="the time zone of partition times, if the watermark is that of a TIMESTAMP_LTZ",
    ),
)
_WHY_NOT = {
    "metastore": "partitions of files are folders, and there is no metastore that knows them",
    "custom": "its policy is a Java class, which cannot run here",
}
_CLASSES = (f"{PREFIX}.policy.class", f"{PREFIX}.policy.class.parameters", f"{EXTRACTOR}.class")
_OFFSET = re.compile(r"GMT([+-])(\d\d):(\d\d)")


@dataclass(frozen=True, slots=True)
class PartitionCommit:
    """When and how to commit partitions. Times are milliseconds since 1970."""

    by_watermark: bool
    delay_ms: int
    zone: tzinfo
    times: PartitionTimes
    success_file: str

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> PartitionCommit | None:
        """None if nothing is to be committed."""
        if not options[f"{PREFIX}.policy.kind"]:
            return None
        return cls(
            options[f"{PREFIX}.trigger"] == "partition-time",
            options[f"{PREFIX}.delay"],
            zone_of(options[f"{PREFIX}.watermark-time-zone"]),
            PartitionTimes(
                options[f"{EXTRACTOR}.timestamp-pattern"],
                options[f"{EXTRACTOR}.timestamp-formatter"],
            ),
            options[f"{PREFIX}.success-file.name"],
        )

    @property
    def at_once(self) -> bool:
        """Whether a partition can be committed as soon as it has rows."""
        return not self.by_watermark and self.delay_ms == 0

    def is_due(self, partition: str, since_ms: int, now_ms: int, watermark_ms: int | None) -> bool:
        """Whether a partition whose first rows came at `since_ms` is complete."""
        if not self.by_watermark:
            return self.at_once or now_ms > since_ms + self.delay_ms
        return watermark_ms is not None and watermark_ms > self.time_ms(partition) + self.delay_ms

    def time_ms(self, partition: str) -> int:
        """The time of the folder `dt=2024-01-01/hour=7`."""
        pairs = (part.split("=", 1) for part in partition.split("/"))
        try:
            time = self.times.time_of({unquote(name): unquote(value) for name, value in pairs})
        except NoTime as problem:
            raise DataError(
                f"partition `{partition}` has no time to be committed at: {problem}",
                hint=f"'{EXTRACTOR}.timestamp-pattern' and '{EXTRACTOR}.timestamp-formatter' say "
                "how its values are read",
            ) from None
        return round(time.replace(tzinfo=self.zone).timestamp() * 1000)


def zone_of(name: str) -> tzinfo:
    """UTC, a name such as Europe/Paris, or GMT+01:00. Raises ValueError."""
    if name in ("UTC", "GMT"):
        return UTC
    offset = _OFFSET.fullmatch(name)
    if offset:
        minutes = int(offset[2]) * 60 + int(offset[3])
        return timezone(timedelta(minutes=minutes if offset[1] == "+" else -minutes))
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError("expected UTC, a name such as 'Europe/Paris', or 'GMT+01:00'") from None


def check(table: Table, options: Mapping[str, Any]) -> None:
    """Check the options of partition commits together. Raises OptionError."""
    for problem in _problems(table, options):
        raise problem


def _problems(table: Table, options: Mapping[str, Any]) -> Iterator[OptionError]:
    yield from _other_policies(table, options)
    for key in _CLASSES:
        if options[key] is not None:
            message = f"option '{key}' is not supported: Java classes cannot run here"
            yield option_error(table, key, message)
    if options[f"{EXTRACTOR}.kind"].lower() != "default":
        message = (
            "partition times computed by a custom class are not supported: it would be a Java class"
        )
        hint = f"'default', with '{EXTRACTOR}.timestamp-pattern'"
        yield option_error(table, f"{EXTRACTOR}.kind", message, hint=hint)
    yield from _unreadable(table, options)


def _other_policies(table: Table, options: Mapping[str, Any]) -> Iterator[OptionError]:
    key = f"{PREFIX}.policy.kind"
    for kind in (kind.strip() for kind in re.split("[,;]", options[key] or "success-file")):
        if kind.lower() != "success-file":
            message = f"partition commit policy '{kind}' is not supported"
            why = _WHY_NOT.get(kind.lower())
            notes = {"why": why} if why else {}
            yield option_error(table, key, message, notes=notes, hint="'success-file' is")


def _unreadable(table: Table, options: Mapping[str, Any]) -> Iterator[OptionError]:
    """Values that other options must be able to parse."""
    for key, read in (
        (f"{PREFIX}.watermark-time-zone", zone_of),
        (f"{EXTRACTOR}.timestamp-formatter", expression_of),
    ):
        try:
            if options[key] is not None:
                read(options[key])
        except ValueError as problem:
            yield option_error(table, key, f"option '{key}' cannot be '{options[key]}': {problem}")
    key = f"{EXTRACTOR}.timestamp-pattern"
    left = options[key] or ""
    for name in table.partitioned_by:
        left = left.replace(f"${name}", "")
    unknown = re.search(r"\$\w+", left)
    if unknown and table.partitioned_by:
        message = f"option '{key}' names {unknown[0]}, which is not a partition column"
        yield option_error(table, key, message, hint=f"they are {', '.join(table.partitioned_by)}")


def now_ms() -> int:
    return round(datetime.now(UTC).timestamp() * 1000)
