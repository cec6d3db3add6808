"""A registry of schemas: how it is reached, and what it knows."""
