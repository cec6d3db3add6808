"""Runs bounded plans in this process, with the same kernels and without Spark."""
