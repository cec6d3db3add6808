"""Spark's settings of object stores, for libraries that reach them by their own."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from tidemark.errors import NotSupported
from tidemark.storage import Access, scheme_of
from tidemark.storage.filesystems import azure_options
from tidemark.storage.s3 import s3_options

_ACCOUNT = re.compile(r"[^@]+@([^.]+)(\..+)")
# The names that the object stores of Rust have for what Arrow's S3 takes.
_S3 = {
    "access_key": "aws_access_key_id",
    "secret_key": "aws_secret_access_key",
    "session_token": "aws_session_token",
    "region": "aws_region",
    "role_arn": "aws_iam_role_arn",
    "session_name": "aws_iam_role_session_name",
}
_AZURE = {
    "account_name": "azure_storage_account_name",
    "account_key": "azure_storage_account_key",
    "sas_token": "azure_storage_sas_key",
    "client_id": "azure_storage_client_id",
    "client_secret": "azure_storage_client_secret",
    "tenant_id": "azure_storage_tenant_id",
}


def for_rust(uri: str, access: Access) -> dict[str, str]:
    """The settings of delta-rs for a resolved URI. What is not set, it finds in the environment."""
    scheme = scheme_of(uri)
    if scheme == "s3a":
        return _s3(s3_options(access.of_bucket(urlsplit(uri).netloc)))
    if scheme in ("abfs", "abfss"):
        account = _ACCOUNT.fullmatch(urlsplit(uri).netloc)
        found = azure_options(account[1], account[2], access) if account else {}
        return {_AZURE[key]: str(value) for key, value in found.items() if key in _AZURE}
    return {}


def _s3(options: dict[str, Any]) -> dict[str, str]:
    if "proxy_options" in options:
        raise NotSupported(
            "a proxy for S3 is not supported for tables of Delta",
            notes={"setting": "fs.s3a.proxy.host"},
            hint="set HTTPS_PROXY in the environment",
        )
    found = {_S3[key]: str(value) for key, value in options.items() if key in _S3 and value}
    if options.get("anonymous"):
        found["aws_skip_signature"] = "true"
    if "endpoint_override" in options:
        found["aws_endpoint"] = f"{options['scheme']}://{options['endpoint_override']}"
        found["aws_allow_http"] = str(options["scheme"] == "http").lower()
        virtual = str(options["force_virtual_addressing"]).lower()
        found["aws_virtual_hosted_style_request"] = virtual
    return found
