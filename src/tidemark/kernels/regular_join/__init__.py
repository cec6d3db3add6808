"""The regular join: pairs of rows with equal keys, whatever their times."""
