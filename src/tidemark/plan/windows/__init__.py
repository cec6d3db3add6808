"""Windows: how rows are assigned, which columns are window bounds, and when results are emitted."""
