"""Files as tables: see `connector`."""
