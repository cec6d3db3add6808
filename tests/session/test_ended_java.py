"""Errors of calls into a Java that has gone."""

from __future__ import annotations

import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest
from py4j.java_gateway import GatewayParameters, JavaGateway
from py4j.protocol import Py4JJavaError, Py4JNetworkError
from pyspark import SparkContext

from servers.ports import free_ports
from tidemark.spark.ended_java import ended_java


@pytest.fixture
def java(monkeypatch):
    """A process that stands in for Java."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    monkeypatch.setattr(SparkContext, "_gateway", SimpleNamespace(proc=process))
    monkeypatch.setattr("tidemark.spark.ended_java._SECONDS", 0.1)
    yield process
    process.kill()
    process.communicate()


def refused() -> Exception:
    """What a call raises if nothing listens."""
    [port] = free_ports(1)
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port))
    with pytest.raises(Exception) as raised:
        gateway.jvm.System.currentTimeMillis()
    return raised.value


def test_a_call_into_a_java_that_was_killed_says_who_killed_it(java):
    java.send_signal(signal.SIGKILL)

    for failure in (Py4JNetworkError("Answer from Java side is empty"), refused()):
        found = ended_java(failure)
        assert found is not None
        assert "killed by SIGKILL, as the system does when memory" in found.notes["why"]


def test_a_java_that_has_ended_by_itself_says_so(java):
    java.communicate(b"\n")

    found = ended_java(Py4JNetworkError("Answer from Java side is empty"))

    assert found is not None
    assert found.notes["why"] == "it ended with exit code 0"


def test_an_exception_of_java_is_its_answer_and_nothing_waits_for_its_end(java, monkeypatch):
    def waits(_: float) -> int:
        raise AssertionError("it has answered")

    with monkeypatch.context() as patch:
        patch.setattr(java, "wait", waits)
        assert ended_java(Py4JJavaError.__new__(Py4JJavaError)) is None


def test_other_failures_are_what_they_are(java):
    assert ended_java(Py4JNetworkError("while it runs")) is None
    java.send_signal(signal.SIGKILL)
    assert ended_java(ConnectionRefusedError("by a broker")) is None
    assert ended_java(ValueError("x")) is None
