"""What is not computed in columns."""

from __future__ import annotations

from tidemark.errors import TidemarkError


class NotInColumns(TidemarkError):
    """An expression that only Spark computes; the message says which function is to blame."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} needs Spark")
        self.what = what
