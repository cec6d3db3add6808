"""MATCH_RECOGNIZE: from its clauses to a node."""
