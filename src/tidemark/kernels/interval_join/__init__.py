"""The interval join: pairs of rows whose times are within bounds."""
