"""A registry behind TLS, with certificates in the files that Java's and other clients use."""

from __future__ import annotations

import ipaddress
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives import serialization as s
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs12

from tests.registry import running
from tidemark.schema_registry import client
from tidemark.schema_registry.client import Registry, RegistryError
from tidemark.schema_registry.settings import RegistrySettings, Store
from tidemark.schema_registry.tls import BadStore, context

PASSWORD = "secret word"


@dataclass(frozen=True)
class Files:
    """A certificate of 127.0.0.1 with its key, in all forms."""

    pem: str
    trusted_p12: str
    own_p12: str
    own_pem: str


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    locked = s.BestAvailableEncryption(PASSWORD.encode())
    pem = certificate.public_bytes(s.Encoding.PEM)
    trusted = pkcs12.PKCS12Certificate(certificate, b"ca")
    key_pem = key.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, locked)
    contents = {
        "ca.pem": pem,
        "trusted.p12": pkcs12.serialize_java_truststore([trusted], locked),
        "own.p12": pkcs12.serialize_key_and_certificates(b"me", key, certificate, None, locked),
        "own.pem": key_pem + pem,
    }
    for file, content in contents.items():
        (folder / file).write_bytes(content)
    return Files(*(str(folder / file) for file in contents))


def store(file: str) -> Store:
    return Store(file, PASSWORD)


@pytest.mark.parametrize("form", ["pem", "p12"])
def test_a_registry_with_tls_on_both_sides(made, form):
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=made.pem)
    tls.verify_mode = ssl.CERT_REQUIRED
    tls.load_cert_chain(made.own_pem, password=PASSWORD)
    trusted = store(made.pem if form == "pem" else made.trusted_p12)
    own = store(made.own_pem if form == "pem" else made.own_p12)

    with running(tls) as registry:
        number = registry.add("x")
        settings = RegistrySettings((registry.url,), trusted=trusted, own=own)

        assert Registry(settings).schema(number).schema == "x"


def test_a_certificate_that_is_not_trusted_is_refused(made, monkeypatch):
    monkeypatch.setattr(client, "_WAITS_S", ())
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(made.own_pem, password=PASSWORD)

    with running(tls) as registry, pytest.raises(RegistryError, match="certificate verify failed"):
        Registry(RegistrySettings((registry.url,))).schema(1)


def test_stores_that_cannot_be_used_say_why(made, tmp_path: Path):
    jks = tmp_path / "trusted.jks"
    jks.write_bytes(b"\xfe\xed\xfe\xed....")

    with pytest.raises(BadStore, match="only Java reads") as caught:
        context(store(str(jks)), None)
    assert caught.value.hint is not None and "-deststoretype PKCS12" in caught.value.hint
    with pytest.raises(BadStore, match="has another password"):
        context(Store(made.trusted_p12, "other"), None)
    with pytest.raises(BadStore, match="No such file"):
        context(Store(str(tmp_path / "none"), None), None)
    with pytest.raises(BadStore, match="no key with a certificate"):
        context(None, store(made.trusted_p12))
