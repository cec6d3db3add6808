"""Subqueries in place of conditions, values and relations: they become joins."""
