"""All queries over files, by name.

Only the standard library is imported here, so that the interpreter with Flink can load it too.
"""

from __future__ import annotations

from bench.real_bytes import nexmark_queries, operator_queries, queries

EVERY = queries.QUERIES | nexmark_queries.QUERIES | operator_queries.QUERIES
