"""One Flink cluster for all queries of a process, much faster than one for each."""

from __future__ import annotations

from typing import Any


def start() -> dict[str, str]:
    """Start a cluster inside PyFlink's Java process; returns what a table environment must set."""
    from pyflink.java_gateway import get_gateway

    jvm: Any = get_gateway().jvm
    configuration = jvm.org.apache.flink.configuration.Configuration()
    for key, value in _SETTINGS.items():
        configuration.setString(key, value)
    package = jvm.org.apache.flink.runtime.minicluster
    builder = getattr(package, "MiniClusterConfiguration$Builder")()
    builder = builder.setConfiguration(configuration).setNumTaskManagers(1)
    cluster = package.MiniCluster(builder.setNumSlotsPerTaskManager(8).build())
    cluster.start()
    address = cluster.getRestAddress().get()
    return {
        "execution.target": "remote",
        "rest.address": str(address.getHost()),
        "rest.port": str(address.getPort()),
    }


_SETTINGS = {
    "rest.port": "0",
    "rest.bind-port": "0",
    "taskmanager.memory.managed.size": "512m",
}
