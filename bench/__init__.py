"""Benchmarks. `make bench` runs them all; `python -m bench --help` lists them."""
