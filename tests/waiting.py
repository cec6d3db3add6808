"""Waiting in tests, as servers do."""

from servers.waiting import PATIENCE_SECONDS, wait_until

__all__ = ["PATIENCE_SECONDS", "wait_until"]
