"""Runs kernels over the rows of a key group, wherever those come from."""
