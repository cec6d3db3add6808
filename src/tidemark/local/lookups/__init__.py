"""Lookup joins: tables that are looked up, in this process or in Spark's workers."""
