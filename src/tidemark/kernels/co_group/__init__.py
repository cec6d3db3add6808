"""Rows of two inputs, grouped by key and window."""
