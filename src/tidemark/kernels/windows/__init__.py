"""Windows: how rows are assigned, what is computed, and when results are emitted."""
