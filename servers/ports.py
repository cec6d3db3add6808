"""Ports that nothing on this machine listens on."""

from __future__ import annotations

import contextlib
import socket

HOST = "127.0.0.1"


def free_ports(count: int) -> list[int]:
    """Different ones, because all are taken before the first is released."""
    with contextlib.ExitStack() as taken:
        sockets = [taken.enter_context(socket.create_server((HOST, 0))) for _ in range(count)]
        return [one.getsockname()[1] for one in sockets]


def is_open(port: int) -> bool:
    """Whether something listens there."""
    with contextlib.suppress(OSError):
        socket.create_connection((HOST, port), timeout=5).close()
        return True
    return False
