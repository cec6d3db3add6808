"""How file systems are reached: by the settings that Spark's own readers and writers have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_PREFIX = "spark.hadoop."
# What file systems are told by their users; anything else is nobody's business here.
_OURS = ("fs.s3a.", "fs.azure.", "fs.defaultFS", "dfs.")


@dataclass(frozen=True, slots=True)
class Access:
    """Hadoop's settings of file systems. They hold secrets, so they are never printed."""

    settings: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, spark_settings: Mapping[str, str]) -> Access:
        """From a Spark session's settings: `spark.hadoop.fs.s3a.endpoint`, or without the prefix,
        as `SET` may have put it into the session; the latter wins, as in Spark."""
        plain = {k: v for k, v in spark_settings.items() if k.startswith(_OURS)}
        with_prefix = {
            key.removeprefix(_PREFIX): value
            for key, value in spark_settings.items()
            if key.startswith(_PREFIX) and key.removeprefix(_PREFIX).startswith(_OURS)
        }
        return cls(tuple(sorted({**with_prefix, **plain}.items())))

    def of_bucket(self, bucket: str) -> dict[str, str]:
        """What `fs.s3a.*` says for a bucket, by the last part of the names."""
        prefix, own = "fs.s3a.", f"fs.s3a.bucket.{bucket}."
        common = {k.removeprefix(prefix): v for k, v in self.settings if k.startswith(prefix)}
        return common | {k.removeprefix(own): v for k, v in self.settings if k.startswith(own)}

    def of_account(self, account: str) -> dict[str, str]:
        """What `fs.azure.*` says for a storage account; `x.account` is more exact than `x`."""
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


# Each file system as its own defaults have it.
NO_ACCESS = Access()
