"""Paths as URIs: which file system a path is on, and its form for Spark."""

from __future__ import annotations

import os
import re

from tidemark.errors import NotSupported

# At least two letters: a single one is a drive.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
_PASSWORD = re.compile(r"(?<=//)([^/@:]+):[^/@]*@")
# The file systems that Tidemark can write to, by Hadoop's name. Users write `s3`.
SCHEMES = {
    "file": "file",
    "s3": "s3a",
    "s3a": "s3a",
    "s3n": "s3a",
    "hdfs": "hdfs",
    "abfs": "abfs",
    "abfss": "abfss",
}


def scheme_of(path: str) -> str | None:
    """`s3` of `s3://bucket/x`; None for a plain path."""
    found = _SCHEME.match(path)
    return found[1].lower() if found else None


def is_local(uri: str) -> bool:
    return scheme_of(uri) in (None, "file")


def spelled_for_spark(path: str) -> str:
    """The path with the scheme that Hadoop knows: `s3://` becomes `s3a://`."""
    scheme = scheme_of(path)
    known = SCHEMES.get(scheme or "", scheme)
    return path if scheme is None else f"{known}{path[len(scheme) :]}"


def resolve(path: str) -> str:
    """The URI of a path to write to; a local path is absolute and without `file:`."""
    scheme = scheme_of(path)
    if scheme is None:
        return os.path.abspath(path)
    if scheme == "file":
        return os.path.abspath(re.sub(r"^file:(//[^/]*)?", "", path, flags=re.IGNORECASE))
    if scheme not in SCHEMES:
        raise NotSupported(
            f"cannot write to {shown(path)}: '{scheme}' is not a file system that Tidemark knows",
            hint=f"known are {', '.join(f'{name}://' for name in SCHEMES)}; "
            f"a local path with a colon in it is written './{shown(path)}'",
        )
    if not re.match(rf"{re.escape(scheme)}://[^/]", path, re.IGNORECASE) and scheme != "hdfs":
        raise NotSupported(
            f"cannot write to {shown(path)}: it names no bucket or container",
            hint=f"write {scheme}://NAME/folder",
        )
    return spelled_for_spark(path).rstrip("/")


def shown(path: str) -> str:
    """The path for messages, without a password."""
    return _PASSWORD.sub(r"\1:***@", path)
