"""Aggregate functions, as expressions that make, merge and finish accumulators."""

from tidemark.kernels.aggregates.aggregates import Aggregates

__all__ = ["Aggregates"]
