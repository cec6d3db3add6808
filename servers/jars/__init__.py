"""Jars of servers and of what Spark is given in tests: an Ivy file for each, fetched once."""
