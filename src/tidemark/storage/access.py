"""Access to file systems, with the settings of Spark's own readers and writers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_PREFIX = "spark.hadoop."
# The settings that users make for file systems; others are ignored.
_OURS = ("fs.s3a.", "fs.azure.", "fs.defaultFS", "dfs.")


@dataclass(frozen=True, slots=True)
class Access:
    """Hadoop's settings of file systems. They may contain secrets, so they are never printed."""

    settings: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, spark_settings: Mapping[str, str]) -> Access:
        """From a Spark session's settings: `spark.hadoop.fs.s3a.endpoint`, or without the
        prefix, if SET has put it into the session; the latter wins, as in Spark.
        """
        plain = {k: v for k, v in spark_settings.items() if k.startswith(_OURS)}
        with_prefix = {
            key.removeprefix(_PREFIX): value
            for key, value in spark_settings.items()
            if key.startswith(_PREFIX) and key.removeprefix(_PREFIX).startswith(_OURS)
        }
        return cls(tuple(sorted({**with_prefix, **plain}.items())))

    def of_bucket(self, bucket: str) -> dict[str, str]:
        """The `fs.s3a.*` settings for a bucket, by the last part of the names."""
        prefix, own = "fs.s3a.", f"fs.s3a.bucket.{bucket}."
        common = {k.removeprefix(prefix): v for k, v in self.settings if k.startswith(prefix)}
        return common | {k.removeprefix(own): v for k, v in self.settings if k.startswith(own)}

    def of_account(self, account: str) -> dict[str, str]:
        """The `fs.azure.*` setting for a storage account; `x.account` takes precedence over `x`."""
        prefix = "fs.azure."
        azure = {k.removeprefix(prefix): v for k, v in self.settings if k.startswith(prefix)}
        own = {
            k.removesuffix(f".{account}"): v for k, v in azure.items() if k.endswith(f".{account}")
        }
        return azure | own

    def of_hdfs(self) -> dict[str, str]:
        return {
            key: value for key, value in self.settings if key.startswith(("fs.default", "dfs."))
        }


# Every file system with its own defaults.
NO_ACCESS = Access()
