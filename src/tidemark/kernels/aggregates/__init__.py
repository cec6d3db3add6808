"""Aggregate functions, as expressions that create, merge and finish accumulators."""

from tidemark.kernels.aggregates.aggregates import Aggregates
from tidemark.kernels.aggregates.numbers import ROWS

__all__ = ["ROWS", "Aggregates"]
