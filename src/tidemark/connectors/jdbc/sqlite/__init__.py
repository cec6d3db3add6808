"""The dialect of SQLite, by Python's own module."""
