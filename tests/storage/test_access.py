"""Spark's settings of file systems as Arrow's."""

from __future__ import annotations

from typing import Any

import pytest

from tidemark.errors import NotSupported, SetupError
from tidemark.storage import Access
from tidemark.storage.filesystems import azure_options
from tidemark.storage.s3 import s3_options, s3_timeouts


def s3(bucket: str = "b", /, **settings: str) -> dict[str, Any]:
    """The arguments that `fs.s3a.*` settings become; names have `_` for `.`."""
    spark = {f"spark.hadoop.fs.s3a.{k.replace('_', '.')}": v for k, v in settings.items()}
    return s3_options(Access.of(spark).of_bucket(bucket))


def test_keys_and_an_endpoint_are_taken_as_spark_has_them() -> None:
    settings = {
        "access_key": "k",
        "secret_key": "s",
        "session_token": "t",
        "endpoint": "http://127.0.0.1:9000/",
        "path_style_access": "true",
    }
    assert s3(**settings) == {
        "access_key": "k",
        "secret_key": "s",
        "session_token": "t",
        "endpoint_override": "127.0.0.1:9000",
        "scheme": "http",
        "region": "us-east-1",
        "force_virtual_addressing": False,
    }


def test_amazon_itself_is_found_by_its_region() -> None:
    assert s3(endpoint="s3.eu-west-1.amazonaws.com") == {"region": "eu-west-1"}
    assert s3(endpoint_region="eu-north-1") == {"region": "eu-north-1"}
    assert s3(endpoint="https://s3.amazonaws.com") == {}


def test_the_environment_may_name_the_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://minio:9000")
    monkeypatch.setenv("AWS_REGION", "eu-north-1")

    assert s3() == {
        "endpoint_override": "minio:9000",
        "scheme": "http",
        "force_virtual_addressing": False,
        "region": "eu-north-1",
    }
    assert s3(endpoint="http://other:1")["endpoint_override"] == "other:1"


def test_an_endpoint_without_a_scheme_is_secure_by_default() -> None:
    assert s3(endpoint="minio:9000")["scheme"] == "https"
    assert s3(endpoint="minio:9000", connection_ssl_enabled="false")["scheme"] == "http"


def test_a_bucket_may_have_settings_of_its_own() -> None:
    settings = {"access_key": "k", "secret_key": "s", "bucket_other_access_key": "o"}

    assert s3("other", **settings)["access_key"] == "o"
    assert s3("b", **settings)["access_key"] == "k"


def test_what_the_session_has_set_wins() -> None:
    spark = {"spark.hadoop.fs.s3a.access.key": "before", "fs.s3a.access.key": "after"}

    assert Access.of(spark).of_bucket("b") == {"access.key": "after"}


@pytest.mark.parametrize(
    ("provider", "expected"),
    [
        ("org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider", {"anonymous": True}),
        ("software.amazon.awssdk.auth.credentials.EnvironmentVariableCredentialsProvider", {}),
    ],
)
def test_credentials_come_from_the_same_providers_as_in_spark(
    provider: str, expected: dict[str, Any]
) -> None:
    assert s3(aws_credentials_provider=provider, access_key="k", secret_key="s") == expected


def test_a_role_is_assumed() -> None:
    provider = "org.apache.hadoop.fs.s3a.auth.AssumedRoleCredentialProvider"
    found = s3(aws_credentials_provider=provider, assumed_role_arn="arn:x")

    assert found == {"role_arn": "arn:x", "session_name": None, "external_id": None}


def test_credentials_by_a_class_of_ones_own_are_refused() -> None:
    with pytest.raises(NotSupported, match=r"credentials of S3 by 'Mine' are not supported"):
        s3(aws_credentials_provider="com.example.Mine")


def test_encryption_with_a_key_of_ones_own_is_refused_rather_than_left_out() -> None:
    with pytest.raises(NotSupported, match="cannot be encrypted by SSE-KMS"):
        s3(encryption_algorithm="SSE-KMS")


def test_arrow_is_as_patient_as_spark() -> None:
    assert s3_timeouts({}) == {"request_timeout": 200, "connect_timeout": 30}
    assert s3_timeouts({"connection.timeout": "5000", "connection.establish.timeout": "2 m"}) == {
        "request_timeout": 5,
        "connect_timeout": 120,
    }
    with pytest.raises(SetupError, match="'soon' is not a duration of S3A"):
        s3_timeouts({"connection.timeout": "soon"})


def test_a_proxy_is_used() -> None:
    assert s3(proxy_host="p", proxy_port="3128")["proxy_options"] == {
        "scheme": "http",
        "host": "p",
        "port": 3128,
    }


def test_an_azure_account_has_its_own_key() -> None:
    host = "acc.dfs.core.windows.net"
    access = Access.of({f"spark.hadoop.fs.azure.account.key.{host}": "k"})

    assert azure_options("acc", ".dfs.core.windows.net", access) == {
        "account_name": "acc",
        "dfs_storage_authority": ".dfs.core.windows.net",
        "blob_storage_authority": ".blob.core.windows.net",
        "account_key": "k",
    }


def test_an_azure_client_has_a_secret_and_a_tenant() -> None:
    prefix = "spark.hadoop.fs.azure.account.oauth2.client"
    url = "https://login.microsoftonline.com/the-tenant/oauth2/token"
    access = Access.of({f"{prefix}.id": "i", f"{prefix}.secret": "s", f"{prefix}.endpoint": url})
    options = azure_options("acc", ".dfs.core.windows.net", access)

    assert (options["client_id"], options["client_secret"]) == ("i", "s")
    assert options["tenant_id"] == "the-tenant"


def test_secrets_are_not_printed() -> None:
    assert "hidden" not in repr(Access.of({"fs.s3a.secret.key": "hidden"}))
