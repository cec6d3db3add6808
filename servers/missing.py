"""What this machine lacks for a server."""

from __future__ import annotations


class Missing(Exception):
    """Jars that cannot be fetched, or a program that is not installed."""
