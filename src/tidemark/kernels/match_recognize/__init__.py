"""MATCH_RECOGNIZE: rows of a key, in order, that match a pattern of variables."""
