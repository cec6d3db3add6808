"""How Spark runs a kernel: rows travel packed to the bucket of their key, state in its store."""
