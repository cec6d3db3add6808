"""Connectors: where the rows of tables come from, and where they go; `registry` has all of them.

Nothing is imported here: Spark starts a process for each stream that a connector plans, which
should have to load no more than it needs.
"""
