"""The dialect of PostgreSQL, its catalog, and what connector postgres-cdc shares with it."""
