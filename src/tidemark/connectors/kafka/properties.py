"""`properties.*` of a table, which are those of Kafka's Java client, for its C client."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from tidemark.catalog.tables import Table
from tidemark.connectors.options import option_error

_PREFIX: Final = "properties."
_JAAS = re.compile(r"\s*(?P<module>[\w.]+)\s+required\s+(?P<options>.*?);?\s*", re.DOTALL)
_JAAS_OPTION = re.compile(r"([\w.]+)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^\s;]+))")
_WITH_PASSWORD = ("PlainLoginModule", "ScramLoginModule")

# What only has a meaning in Java: classes, and how Java's client works inside.
_WITHOUT_EFFECT: Final = frozenset(
    {
        "key.deserializer",
        "value.deserializer",
        "key.serializer",
        "value.serializer",
        "partition.discovery.interval.ms",
        "max.poll.records",
        "client.dns.lookup",
        "buffer.memory",
        "max.block.ms",
        "enable.auto.commit",
        "auto.commit.interval.ms",
        "auto.offset.reset",  # where to start is decided before a partition is read
        "partition.assignment.strategy",
        "interceptor.classes",
        "config.providers",
        "exclude.internal.topics",
        "metadata.max.idle.ms",
        "metric.reporters",
        "metrics.num.samples",
        "metrics.recording.level",
        "metrics.sample.window.ms",
        "partitioner.adaptive.partitioning.enable",
        "partitioner.availability.timeout.ms",
        "compression.gzip.level",
        "compression.lz4.level",
        "compression.zstd.level",
        "socket.connection.setup.timeout.max.ms",
        "zookeeper.connect",  # of clients before Kafka 0.9, and of many scripts since
        "security.providers",
        "ssl.keymanager.algorithm",
        "ssl.trustmanager.algorithm",
        "ssl.provider",
        "ssl.secure.random.implementation",
        "ssl.truststore.type",
        "ssl.keystore.type",
        "ssl.protocol",
        "ssl.enabled.protocols",
        "sasl.login.callback.handler.class",
        "sasl.login.refresh.buffer.seconds",
        "sasl.login.refresh.min.period.seconds",
        "sasl.login.refresh.window.factor",
        "sasl.login.refresh.window.jitter",
        "sasl.login.retry.backoff.max.ms",
        "sasl.login.retry.backoff.ms",
        "sasl.login.connect.timeout.ms",
        "sasl.login.read.timeout.ms",
        "sasl.kerberos.ticket.renew.jitter",
        "sasl.kerberos.ticket.renew.window.factor",
    }
)
_RENAMED: Final = {
    "request.timeout.ms": "socket.timeout.ms",
    "max.request.size": "message.max.bytes",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.key.password": "ssl.key.password",
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "max.partition.fetch.bytes": "max.partition.fetch.bytes",
    "connections.max.idle.ms": "connections.max.idle.ms",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "default.api.timeout.ms": "socket.timeout.ms",
}


def client_settings(table: Table, options: Mapping[str, Any]) -> dict[str, str]:
    """The client's settings. Raises OptionError for what it cannot do; errors show no values."""
    # As Java's client does by default; the C client reads committed records only.
    settings = {"isolation.level": "read_uncommitted"}
    for name, value in options.items():
        if not name.startswith(_PREFIX) or value is None:
            continue
        key = name.removeprefix(_PREFIX)
        if key in _TRANSLATED:
            settings |= _TRANSLATED[key](table, name, value)
        elif key not in _WITHOUT_EFFECT:
            settings[_RENAMED.get(key, key)] = value
    if settings.get("security.protocol"):
        settings["security.protocol"] = settings["security.protocol"].lower()
    return settings


def _jaas(table: Table, name: str, value: str) -> dict[str, str]:
    """`...ScramLoginModule required username="..." password="...";`."""
    match = _JAAS.fullmatch(value)
    module = match["module"].rpartition(".")[2] if match else ""
    if match is None or module not in _WITH_PASSWORD:
        raise option_error(
            _silent(table),
            name,
            f"'{name}' is not supported with this login module",
            notes={"supported": ", ".join(_WITH_PASSWORD)},
            hint="use 'properties.sasl.mechanism' = 'PLAIN' or 'SCRAM-SHA-256'",
        )
    pairs = {key: quoted or plain for key, quoted, plain in _JAAS_OPTION.findall(match["options"])}
    if not {"username", "password"} <= pairs.keys():
        raise option_error(_silent(table), name, f"'{name}' requires a username and a password")
    return {
        "sasl.username": _unescaped(pairs["username"]),
        "sasl.password": _unescaped(pairs["password"]),
    }


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _truststore(table: Table, name: str, value: str) -> dict[str, str]:
    if value.lower().endswith((".jks", ".p12", ".pfx")):
        raise option_error(
            _silent(table),
            name,
            "truststores in Java's formats are not supported: the client reads PEM",
            hint="convert it once: keytool -exportcert -rfc -keystore truststore.jks -alias ... "
            "-file ca.pem; then 'properties.ssl.truststore.location' = 'ca.pem'",
        )
    return {"ssl.ca.location": value}


def _keystore(table: Table, name: str, value: str) -> dict[str, str]:
    if value.lower().endswith((".p12", ".pfx")):
        return {"ssl.keystore.location": value}
    if value.lower().endswith(".jks"):
        raise option_error(
            _silent(table),
            name,
            "keystores of type JKS are not supported",
            hint="convert it once: keytool -importkeystore -srckeystore keystore.jks "
            "-destkeystore keystore.p12 -deststoretype PKCS12",
        )
    return {"ssl.certificate.location": value, "ssl.key.location": value}


def _identification(table: Table, name: str, value: str) -> dict[str, str]:
    """Empty in Java, `none` in C."""
    return {"ssl.endpoint.identification.algorithm": value or "none"}


def _silent(table: Table) -> Table:
    """The table without its source, so that an error about a secret quotes no line of it."""
    from dataclasses import replace

    return replace(table, source=None)


def _nothing(table: Table, name: str, value: str) -> dict[str, str]:
    return {}


_TRANSLATED: Final[Mapping[str, Callable[[Table, str, str], dict[str, str]]]] = {
    "sasl.jaas.config": _jaas,
    "ssl.truststore.location": _truststore,
    "ssl.truststore.password": _nothing,  # certificates in PEM have none
    "ssl.keystore.location": _keystore,
    "ssl.endpoint.identification.algorithm": _identification,
}
