"""The command `tidemark`."""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. Returns the exit code."""
    from tidemark.cli.app import invoke

    return invoke(arguments)
