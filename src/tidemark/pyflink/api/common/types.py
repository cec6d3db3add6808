"""What is imported as `pyflink.common.types`."""

from tidemark.pyflink.api.common.row import Row, RowKind

__all__ = ["Row", "RowKind"]
