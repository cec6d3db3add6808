"""Measurements. `make bench` runs them all; `python -m bench --help` names them."""
