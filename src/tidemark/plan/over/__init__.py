"""OVER: its windows, its functions, and the operators that compute them."""

from tidemark.plan.over.select import bind_over, has_over

__all__ = ["bind_over", "has_over"]
