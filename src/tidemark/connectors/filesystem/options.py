"""The options of tables of files."""

from __future__ import annotations

from tidemark.connectors.base import OptionSpec
from tidemark.connectors.filesystem import partition_commit
from tidemark.connectors.lookup_options import FULL_CACHE_OPTIONS

_NO_EFFECT = "accepted without effect"
_NEVER_OPEN = "accepted without effect; no file stays open longer than its micro-batch"

OPTIONS = (
    OptionSpec(
        "path", required=True, summary="a file, a folder or a glob; local or a [URI](#paths)"
    ),
    OptionSpec("format", required=True, summary="the format of the files"),
    OptionSpec(
        "source.monitor-interval",
        "duration",
        summary="how often to look for new files; makes the table unbounded",
    ),
    OptionSpec(
        "source.max-files-per-batch",
        "int",
        summary="the maximum number of files that a micro-batch reads, the oldest first; by "
        "default, all new files",
    ),
    OptionSpec("source.path.regex-pattern", summary="read only files whose full path matches"),
    OptionSpec("source.report-statistics", "enum", choices=("all", "none"), summary=_NO_EFFECT),
    OptionSpec(
        "partition.default-name",
        default="__DEFAULT_PARTITION__",
        summary="the folder name for partition values that are NULL or empty",
    ),
    *partition_commit.OPTIONS,
    OptionSpec(
        "sink.rolling-policy.file-size",
        "memory",
        128 << 20,
        summary="a file that has reached this size is closed, and later rows go to a new one",
    ),
    OptionSpec("sink.rolling-policy.rollover-interval", "duration", summary=_NEVER_OPEN),
    OptionSpec("sink.rolling-policy.inactivity-interval", "duration", summary=_NEVER_OPEN),
    OptionSpec("sink.rolling-policy.check-interval", "duration", summary=_NEVER_OPEN),
    OptionSpec(
        "sink.shuffle-by-partition.enable",
        "boolean",
        False,
        summary="whether the rows of a partition are shuffled together before they are written",
    ),
    OptionSpec("sink.parallelism", "int", summary="the number of files per batch"),
    OptionSpec(
        "lookup.cache",
        "enum",
        "FULL",
        choices=("FULL",),
        summary="in a lookup join, workers load the whole table",
    ),
    *FULL_CACHE_OPTIONS,
    OptionSpec("scan.parallelism", "int", summary=_NO_EFFECT),
    OptionSpec(
        "auto-compaction",
        "boolean",
        False,
        summary="whether each micro-batch leaves only one file in a partition, or more if required "
        "by the size",
    ),
    OptionSpec(
        "compaction.file-size",
        "memory",
        summary="the size of these files; by default, that of the rolling policy",
    ),
)
