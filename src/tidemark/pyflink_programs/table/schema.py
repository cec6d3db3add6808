"""What is imported as `pyflink.table.schema`."""

from tidemark.pyflink_programs.table.declarations import Schema

__all__ = ["Schema"]
