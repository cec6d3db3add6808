"""Hadoop's settings of S3A as settings of Arrow's S3."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from tidemark.errors import NotSupported, SetupError

# Where S3A looks for credentials, by the last part of the class name. Arrow itself looks in the
# environment, the configuration files and the machine's metadata service.
_FOUND_BY_ITSELF = {
    "EnvironmentVariableCredentialsProvider",
    "IAMInstanceCredentialsProvider",
    "DefaultCredentialsProvider",
    "DefaultAWSCredentialsProviderChain",
    "ProfileAWSCredentialsProvider",
    "ProfileCredentialsProvider",
    "InstanceProfileCredentialsProvider",
    "ContainerCredentialsProvider",
    "WebIdentityTokenFileCredentialsProvider",
    "WebIdentityTokenCredentialsProvider",
}
_KEYS = {"SimpleAWSCredentialsProvider", "TemporaryAWSCredentialsProvider"}
_ANONYMOUS = "AnonymousAWSCredentialsProvider"
_ASSUMED = "AssumedRoleCredentialProvider"
_AWS_HOST = re.compile(r"s3[.-](?:dualstack[.-])?([a-z]{2}(?:-[a-z]+)+-\d)\.amazonaws\.com")
_DURATION = re.compile(r"(\d+)\s*(ms|s|m|h|)")
_UNITS = {"": 0.001, "ms": 0.001, "s": 1, "m": 60, "h": 3600}


def s3_options(settings: Mapping[str, str]) -> dict[str, Any]:
    """The arguments of Arrow's S3 file system; `settings` by the last part of `fs.s3a.*`."""
    _refuse_encryption(settings)
    return {**_credentials(settings), **_endpoint(settings), **_proxy(settings)}


def s3_timeouts(settings: Mapping[str, str]) -> dict[str, float]:
    """Arrow's timeouts in seconds; the same as S3A's, which are longer than Arrow's defaults."""
    return {
        "request_timeout": _seconds(settings.get("connection.timeout", "200s")),
        "connect_timeout": _seconds(settings.get("connection.establish.timeout", "30s")),
    }


def _seconds(duration: str) -> float:
    """The seconds of a Hadoop duration; milliseconds without a unit."""
    parts = _DURATION.fullmatch(duration.strip())
    if parts is None:
        raise SetupError(f"'{duration}' is not a duration of S3A", hint="write 30s or 30000")
    return float(parts[1]) * _UNITS[parts[2]]


def _credentials(settings: Mapping[str, str]) -> dict[str, Any]:
    named = re.split(r"[,\s]+", settings.get("aws.credentials.provider", "").strip())
    providers = [name.rpartition(".")[2] for name in named if name]
    known = {*_FOUND_BY_ITSELF, *_KEYS, _ANONYMOUS, _ASSUMED}
    if unknown := [name for name in providers if name not in known]:
        raise NotSupported(
            f"credentials of S3 by '{unknown[0]}' are not supported",
            notes={"setting": "fs.s3a.aws.credentials.provider"},
            hint=f"supported are {', '.join(sorted(known))}",
        )
    if _ASSUMED in providers:
        return _role(settings)
    key, secret = settings.get("access.key"), settings.get("secret.key")
    if key and secret and (not providers or _KEYS & {*providers}):
        token = settings.get("session.token")
        return {"access_key": key, "secret_key": secret, "session_token": token}
    return {"anonymous": True} if _ANONYMOUS in providers else {}


def _role(settings: Mapping[str, str]) -> dict[str, Any]:
    return {
        "role_arn": settings.get("assumed.role.arn"),
        "session_name": settings.get("assumed.role.session.name"),
        "external_id": settings.get("assumed.role.external.id"),
    }


def _endpoint(settings: Mapping[str, str]) -> dict[str, Any]:
    """The endpoint without its scheme, and the region; Amazon's own endpoints are derived from
    it.
    """
    in_environment = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    endpoint = settings.get("endpoint") or in_environment or ""
    scheme, _, host = endpoint.rpartition("://")
    host = host.rstrip("/")
    amazon = _AWS_HOST.fullmatch(host)
    region = settings.get("endpoint.region") or (amazon[1] if amazon else None)
    options: dict[str, Any] = {"region": region} if region else {}
    if host and not amazon and host != "s3.amazonaws.com":
        secure = settings.get("connection.ssl.enabled", "true").lower() == "true"
        # An endpoint in the environment is for many clients, whose default is path-style access.
        default = "false" if settings.get("endpoint") else "true"
        by_path = settings.get("path.style.access", default).lower() == "true"
        options["endpoint_override"] = host
        options["scheme"] = scheme or ("https" if secure else "http")
        options["force_virtual_addressing"] = not by_path
        options.setdefault("region", os.environ.get("AWS_REGION", "us-east-1"))
    return options


def _proxy(settings: Mapping[str, str]) -> dict[str, Any]:
    host = settings.get("proxy.host")
    if not host:
        return {}
    secure = settings.get("proxy.ssl.enabled", "false").lower() == "true"
    port = int(settings.get("proxy.port") or (443 if secure else 80))
    proxy = {"scheme": "https" if secure else "http", "host": host, "port": port}
    for ours, theirs in (("username", "proxy.username"), ("password", "proxy.password")):
        if theirs in settings:
            proxy[ours] = settings[theirs]
    return {"proxy_options": proxy}


def _refuse_encryption(settings: Mapping[str, str]) -> None:
    """Reject encryption that only Spark supports: no file may be less encrypted than Spark's."""
    for name in ("encryption.algorithm", "server-side-encryption-algorithm"):
        if settings.get(name, "").upper() not in ("", "NONE", "AES256"):
            raise NotSupported(
                f"objects in S3 cannot be encrypted by {settings[name]}, request by request",
                notes={"setting": f"fs.s3a.{name}"},
                hint="make it the bucket's default encryption and leave the setting out",
            )
