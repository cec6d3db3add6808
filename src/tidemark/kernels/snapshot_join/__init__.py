"""The snapshot join: the right side is loaded first; then each left row is joined at once."""
