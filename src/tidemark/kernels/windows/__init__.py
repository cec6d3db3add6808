"""Windows: what is in which, what is in each, and when that is told."""
