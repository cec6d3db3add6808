"""Random scripts: a few small tables, a view or two, and a query of several operators.

The same seed makes the same scripts. `engines.py` runs them on Flink and on Tidemark, and
`contrast.py` says where the two differ.
"""
