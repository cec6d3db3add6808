"""How Spark runs a kernel: rows travel packed to the key group of their key, state is in its
store.
"""
