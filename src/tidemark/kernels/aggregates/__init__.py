"""Aggregate functions, as expressions that make, merge and finish accumulators."""
