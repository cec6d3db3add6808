"""OVER: its windows, its functions, and the operators that compute them."""

from tidemark.plan.over.groups import above_groups
from tidemark.plan.over.select import bind_over, has_over

__all__ = ["above_groups", "bind_over", "has_over"]
