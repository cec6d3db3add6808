"""Measurements. `make bench` (or `python -m bench`) runs them all and prints one table."""
