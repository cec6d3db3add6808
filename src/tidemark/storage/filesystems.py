"""From a URI to Arrow's file system and the path in it."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tidemark.errors import SetupError
from tidemark.storage.access import Access
from tidemark.storage.s3 import s3_options, s3_timeouts
from tidemark.storage.uris import scheme_of

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_ACCOUNT = re.compile(r"(?P<container>[^@]+)@(?P<account>[^.]+)(?P<suffix>\..+)")
_TENANT = re.compile(r"//[^/]+/([^/]+)/oauth2")


def opened(uri: str, access: Access) -> tuple[FileSystem, str]:
    """The file system of a resolved URI, and the path in it."""
    scheme = scheme_of(uri)
    if scheme is None:
        return _local(), uri
    parts = urlsplit(uri, allow_fragments=False)
    path = uri.split("://", 1)[1].partition("/")[2]
    if scheme == "s3a":
        return _s3(parts.netloc, access), f"{parts.netloc}/{path}".rstrip("/")
    if scheme == "hdfs":
        return _hdfs(parts.netloc, access), f"/{path}"
    container = parts.netloc.partition("@")[0]
    return _azure(parts.netloc, access), f"{container}/{path}".rstrip("/")


@lru_cache(1)
def _local() -> FileSystem:
    from pyarrow.fs import LocalFileSystem

    return LocalFileSystem()


@lru_cache
def _s3(bucket: str, access: Access) -> FileSystem:
    from pyarrow.fs import S3FileSystem

    settings = access.of_bucket(bucket)
    options = s3_options(settings) | s3_timeouts(settings)
    if "region" not in options:
        options["region"] = _region(bucket)
    # A small file is one request instead of three.
    return S3FileSystem(**options, allow_delayed_open=True)


def _region(bucket: str) -> str:
    """The region if no setting has it: that of the environment, or Amazon's default."""
    from pyarrow.fs import resolve_s3_region

    named = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    return named or str(resolve_s3_region(bucket))


@lru_cache
def _hdfs(authority: str, access: Access) -> FileSystem:
    from pyarrow.fs import HadoopFileSystem

    user, _, place = authority.rpartition("@")
    host, _, port = place.partition(":")
    settings = access.of_hdfs()
    default = settings.pop("fs.defaultFS", None)
    if not host and default is not None:
        host, _, port = urlsplit(default).netloc.partition(":")
    try:
        # A name without a port may be that of a pair of name nodes.
        return HadoopFileSystem(
            host or "default", int(port or 0), user=user or None, extra_conf=settings or None
        )
    except OSError as problem:
        raise SetupError(
            f"HDFS cannot be reached: {str(problem).partition(chr(10))[0]}",
            hint="Arrow needs Java (JAVA_HOME), Hadoop's libhdfs.so (HADOOP_HOME or "
            "ARROW_LIBHDFS_DIR) and `hadoop classpath --glob` in CLASSPATH",
        ) from problem


@lru_cache
def _azure(authority: str, access: Access) -> FileSystem:
    from pyarrow.fs import AzureFileSystem

    parts = _ACCOUNT.fullmatch(authority)
    if parts is None:
        raise SetupError(
            f"'{authority}' does not name a container and a storage account",
            hint="write abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/folder",
        )
    return AzureFileSystem(**azure_options(parts["account"], parts["suffix"], access))


def azure_options(account: str, suffix: str, access: Access) -> dict[str, Any]:
    """The arguments of Arrow's Azure file system. Without a key, a token or a client secret, it
    finds an identity itself.
    """
    settings = access.of_account(f"{account}{suffix}")
    options = {
        "account_name": account,
        "dfs_storage_authority": suffix,
        "blob_storage_authority": suffix.replace(".dfs.", ".blob.", 1),
        "account_key": settings.get("account.key"),
        "sas_token": settings.get("sas.fixed.token"),
        "client_id": settings.get("account.oauth2.client.id"),
        "client_secret": settings.get("account.oauth2.client.secret"),
    }
    tenant = _TENANT.search(settings.get("account.oauth2.client.endpoint", ""))
    options["tenant_id"] = tenant[1] if tenant else None
    return {key: value for key, value in options.items() if value is not None}
