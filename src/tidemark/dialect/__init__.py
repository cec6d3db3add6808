"""The Flink SQL dialect: text to typed statements and trees, and back.

>>> script = parse_script("create table t (id int) with ('connector' = 'blackhole')")
>>> print(to_sql(script))
CREATE TABLE t (
  id INT
) WITH (
  'connector' = 'blackhole'
);
"""

from tidemark.dialect.keywords import quoted_name, quoted_path
from tidemark.dialect.literals import quoted_string
from tidemark.dialect.printing import to_sql
from tidemark.dialect.reading import (
    is_complete,
    parse_expression,
    parse_query,
    parse_script,
    parse_type,
)
from tidemark.dialect.spans import span_of

__all__ = [
    "is_complete",
    "parse_expression",
    "parse_query",
    "parse_script",
    "parse_type",
    "quoted_name",
    "quoted_path",
    "quoted_string",
    "span_of",
    "to_sql",
]
