"""Certificates in the stores that Java's clients use, for Python's TLS."""

from __future__ import annotations

import ssl
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from tidemark.errors import SetupError
from tidemark.schema_registry.settings import Store

_PEM: Final = b"-----BEGIN"
_JKS: Final = b"\xfe\xed\xfe\xed"


class BadStore(Exception):
    """Why a file's certificates cannot be used, and what to do."""

    def __init__(self, why: str, hint: str | None = None) -> None:
        super().__init__(why)
        self.why, self.hint = why, hint


def context(trusted: Store | None, own: Store | None) -> ssl.SSLContext:
    """With the certificates that are trusted instead of the system's, and a key of the client's.
    Raises BadStore.
    """
    made = ssl.create_default_context()
    if trusted is not None:
        made = ssl.create_default_context(cadata=_certificates(trusted))
    if own is not None:
        _add_own(made, own)
    return made


def _certificates(store: Store) -> str:
    content = _content(store)
    if _PEM in content:
        return content.decode("ascii", "replace")
    unpacked = _unpacked(store, content)
    found = [each.certificate for each in unpacked.additional_certs]
    if unpacked.cert is not None:
        found.append(unpacked.cert.certificate)
    if not found:
        raise BadStore(f"{store.file} has no certificates")
    return "".join(each.public_bytes(_encoding()).decode() for each in found)


def _add_own(made: ssl.SSLContext, store: Store) -> None:
    """Python reads keys from files only, so a store is unpacked to one that only we can read."""
    content = _content(store)
    if _PEM in content:
        made.load_cert_chain(store.file, password=store.password)
        return
    from cryptography.hazmat.primitives import serialization as s

    unpacked = _unpacked(store, content)
    if unpacked.key is None or unpacked.cert is None:
        raise BadStore(f"{store.file} has no key with a certificate")
    key = unpacked.key.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption())
    chain = [unpacked.cert, *unpacked.additional_certs]
    with TemporaryDirectory() as folder:
        file = Path(folder) / "own.pem"
        file.touch(0o600)
        certificates = [each.certificate.public_bytes(_encoding()) for each in chain]
        file.write_bytes(b"".join([key, *certificates]))
        made.load_cert_chain(file)


def _content(store: Store) -> bytes:
    try:
        content = Path(store.file).read_bytes()
    except OSError as problem:
        raise BadStore(f"{store.file}: {problem.strerror or problem}") from None
    if content.startswith(_JKS):
        raise BadStore(
            f"{store.file} is a store of the type JKS, which only Java reads",
            "convert it: keytool -importkeystore -deststoretype PKCS12 "
            f"-srckeystore {store.file} -destkeystore {Path(store.file).stem}.p12",
        )
    return content


def _unpacked(store: Store, content: bytes) -> Any:
    try:
        from cryptography.hazmat.primitives.serialization import pkcs12
    except ImportError:
        raise SetupError(
            "reading PKCS12 stores needs the package `cryptography`",
            notes={"store": store.file},
            hint="pip install 'tidemark[registry]', or give the certificates as a PEM file",
        ) from None
    password = None if store.password is None else store.password.encode()
    try:
        return pkcs12.load_pkcs12(content, password)
    except ValueError as problem:
        raise BadStore(
            f"{store.file} is not PEM or PKCS12, or has another password: {problem}"
        ) from None


def _encoding() -> Any:
    from cryptography.hazmat.primitives.serialization import Encoding

    return Encoding.PEM
