"""The words of the language, for completion and highlighting."""

from __future__ import annotations

from tidemark.dialect.keywords import RESERVED

# What the shell itself understands.
COMMANDS = ("CLEAR", "EXIT", "HELP", "QUIT", "SOURCE", "STOP JOB")

STATEMENTS = (
    "ALTER TABLE",
    "BEGIN STATEMENT SET",
    "CREATE CATALOG",
    "CREATE DATABASE",
    "CREATE FUNCTION",
    "CREATE OR REPLACE TABLE",
    "CREATE TABLE",
    "CREATE TEMPORARY TABLE",
    "CREATE TEMPORARY VIEW",
    "CREATE VIEW",
    "DESCRIBE",
    "DROP TABLE",
    "DROP VIEW",
    "EXECUTE STATEMENT SET",
    "EXPLAIN",
    "INSERT INTO",
    "RESET",
    "SELECT",
    "SET",
    "SHOW CATALOGS",
    "SHOW COLUMNS FROM",
    "SHOW CREATE TABLE",
    "SHOW CREATE VIEW",
    "SHOW CURRENT CATALOG",
    "SHOW CURRENT DATABASE",
    "SHOW DATABASES",
    "SHOW FUNCTIONS",
    "SHOW JOBS",
    "SHOW TABLES",
    "SHOW VIEWS",
    "USE",
    "USE CATALOG",
    "WITH",
)

# What may stand inside statements; one entry where words belong together.
PHRASES = ["AND", "AS", "ASC", "BETWEEN", "BY", "CASE", "CROSS", "DESC", "DESCRIPTOR", "DISTINCT", "ELSE", "EMIT", "END", "EXCEPT", "EXISTS", "FALSE", "FILTER", "FROM", "FULL", "GROUP", "HAVING", "IN", "INNER", "INTERSECT", "INTERVAL", "INTO", "IS", "JOIN", "LATERAL", "LEFT", "LIKE", "LIMIT", "METADATA", "NOT", "NULL", "OFFSET", "ON", "OR", "OUTER", "OVER", "RIGHT", "SELECT", "TABLE", "THEN", "TRUE", "UNION", "UNNEST", "USING", "VALUES", "VIRTUAL", "WHEN", "WHERE", "WITH"]
LONGER_PHRASES = (
    "EMIT AFTER WATERMARK",
    "FOR SYSTEM_TIME AS OF",
    "GROUP BY",
    "IF EXISTS",
    "IF NOT EXISTS",
    "LEFT JOIN",
    "NOT ENFORCED",
    "ORDER BY",
    "PARTITION BY",
    "PARTITIONED BY",
    "PRIMARY KEY",
    "UNION ALL",
    "WATERMARK FOR",
)

TYPES = frozenset(
    ["ARRAY", "BIGINT", "BINARY", "BOOLEAN", "BYTES", "CHAR", "DATE", "DECIMAL", "DOUBLE", "FLOAT", "INT", "INTEGER", "INTERVAL", "MAP", "MULTISET", "ROW", "SMALLINT", "STRING", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ", "TINYINT", "VARBINARY", "VARCHAR"]
)

KEYWORDS = RESERVED | frozenset(
    word for phrase in (*STATEMENTS, *PHRASES, *LONGER_PHRASES) for word in phrase.split()
)
