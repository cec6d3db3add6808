"""What the parser knows and refuses. Most of it is not in Flink's streaming SQL either."""

from __future__ import annotations

from typing import Final

from tidemark.unsupported import NEVER, Unsupported

_STATEMENTS, _TABLES, _QUERIES = "Statements", "Tables and functions", "Queries"
_EXPRESSIONS, _TYPES = "Expressions", "Types"


def _words(*words: str) -> dict[str, str | None]:
    return dict.fromkeys(words)


# --- statements --------------------------------------------------------------------------------

STATEMENT: Final = Unsupported(
    _STATEMENTS,
    "{}",
    each={
        "MERGE INTO": "use INSERT INTO a table with a primary key",
        "UPDATE": "insert the changed row with the same primary key",
        "STOP JOB": "call job.stop() in Python",
        "UPSERT": "use INSERT INTO a table with a primary key",
        **_words(
            "DELETE",
            "TRUNCATE",
            "CALL",
            "GRANT",
            "REVOKE",
            "COPY",
            "COMMIT",
            "ROLLBACK",
            "CACHE",
            "REFRESH",
            "MSCK",
            "CLEAR",
            "HELP",
            "SOURCE",
        ),
    },
    says=NEVER,
)
CREATE: Final = Unsupported(
    _STATEMENTS,
    "CREATE {}",
    each={
        "MATERIALIZED TABLE": "use CREATE TABLE and INSERT INTO, or CREATE VIEW",
        **_words("MODEL", "CONNECTION", "MODULE", "PROCEDURE"),
    },
    says=NEVER,
)
DROP: Final = Unsupported(
    _STATEMENTS,
    "DROP {}",
    each=_words("MODEL", "CONNECTION", "MATERIALIZED", "MODULE", "PROCEDURE"),
    says=NEVER,
)
ALTER: Final = Unsupported(
    _STATEMENTS,
    "ALTER {}",
    hint="drop it and create it again",
    each=_words("MODEL", "CONNECTION", "MATERIALIZED"),
    says=NEVER,
)
PARTITION_OPTIONS: Final = Unsupported(
    _STATEMENTS, "WITH after ADD PARTITION", hint="leave it out", says=NEVER
)
SHOW: Final = Unsupported(
    _STATEMENTS,
    "SHOW {}",
    each=_words("CONNECTIONS"),
    says=NEVER,
)
DESCRIBE: Final = Unsupported(
    _STATEMENTS,
    "DESCRIBE {}",
    each=_words("MODEL"),
    says=NEVER,
)
TARGET_HINT: Final = Unsupported(
    _STATEMENTS,
    "hint {} on the target of INSERT",
    hint="only OPTIONS is supported there",
    each=_words("other than OPTIONS"),
    says=NEVER,
)

# --- tables and functions ----------------------------------------------------------------------

UNIQUE: Final = Unsupported(
    _TABLES, "a UNIQUE constraint", hint="use PRIMARY KEY (...) NOT ENFORCED", says=NEVER
)
CONSTRAINT: Final = Unsupported(
    _TABLES, "a {} constraint", each=_words("UNIQUE", "FOREIGN", "CHECK"), says=NEVER
)
ON_COLUMN: Final = Unsupported(
    _TABLES,
    "{} on a column",
    each=_words("UNIQUE", "CHECK", "REFERENCES", "DEFAULT"),
    says=NEVER,
)
LIKE_INSIDE: Final = Unsupported(
    _TABLES, "LIKE inside the parentheses", hint="write it after them", says=NEVER
)
MODEL_FUNCTION: Final = Unsupported(
    _TABLES,
    "table function {}",
    hint="call the model in a Python function",
    each=_words("ML_PREDICT", "ML_EVALUATE"),
    says=NEVER,
)
USING_JAR: Final = Unsupported(
    _TABLES, "USING JAR with LANGUAGE PYTHON", hint="put the module on the Python path", says=NEVER
)

# --- queries -----------------------------------------------------------------------------------

RECURSIVE: Final = Unsupported(
    _QUERIES,
    "WITH RECURSIVE",
    why="recursive queries are not defined for streams",
    says=NEVER,
)
MINUS: Final = Unsupported(_QUERIES, "MINUS", hint="use EXCEPT", says=NEVER)
CLAUSE: Final = Unsupported(
    _QUERIES,
    "{}",
    each=_words("CONNECT", "CLUSTER", "DISTRIBUTE", "SORT", "LOCK"),
    says=NEVER,
)
STREAM: Final = Unsupported(_QUERIES, "SELECT STREAM", hint="leave STREAM out", says=NEVER)
STAR_WITHOUT: Final = Unsupported(
    _QUERIES,
    "SELECT * {}",
    hint="name the columns",
    each=_words("EXCEPT", "EXCLUDE", "REPLACE"),
    says=NEVER,
)
SEVERAL_ALIASES: Final = Unsupported(
    _QUERIES,
    "more than one alias per column",
    hint="use LATERAL TABLE in FROM",
    says=NEVER,
)
GROUP_BY_DISTINCT: Final = Unsupported(_QUERIES, "GROUP BY DISTINCT", says=NEVER)
HALF_JOIN: Final = Unsupported(
    _QUERIES,
    "{} JOIN",
    hint="use [NOT] EXISTS or [NOT] IN",
    each=_words("SEMI", "ANTI"),
    says=NEVER,
)
SYSTEM_TIME: Final = Unsupported(_QUERIES, "FOR SYSTEM_TIME other than AS OF", says=NEVER)
TABLE_SUFFIX: Final = Unsupported(
    _QUERIES, "{}", each=_words("PIVOT", "UNPIVOT", "TABLESAMPLE"), says=NEVER
)
UNNEST_SEVERAL: Final = Unsupported(
    _QUERIES,
    "UNNEST of several collections",
    hint="cross join one UNNEST per collection",
    says=NEVER,
)
GROUPS_FRAME: Final = Unsupported(_QUERIES, "a GROUPS frame", says=NEVER)
EXCLUDE_FRAME: Final = Unsupported(_QUERIES, "EXCLUDE in a window frame", says=NEVER)

# --- expressions -------------------------------------------------------------------------------

OPERATOR: Final = Unsupported(
    _EXPRESSIONS,
    "operator {}",
    each={
        "RLIKE": "use the function REGEXP(x, pattern)",
        "ILIKE": "use LOWER(x) LIKE ...",
        "AT": "use CONVERT_TZ or TIMESTAMP_LTZ",
        **_words("MEMBER", "SUBMULTISET", "MULTISET", "COLLATE"),
    },
    says=NEVER,
)
QUANTIFIED_LIST: Final = Unsupported(
    _EXPRESSIONS, "ANY, SOME or ALL over a list of values", hint="use IN (...)", says=NEVER
)
SET_PREDICATE: Final = Unsupported(_EXPRESSIONS, "a set predicate (IS A SET, IS EMPTY)", says=NEVER)
WORD: Final = Unsupported(
    _EXPRESSIONS,
    "{} in an expression",
    each={**_words("UNIQUE", "CURSOR"), "SAFE_CAST": "write TRY_CAST"},
    says=NEVER,
)
STAR_AFTER: Final = Unsupported(
    _EXPRESSIONS,
    "`*` after an expression",
    hint="list the fields, or give the row an alias first",
    says=NEVER,
)
COLLECTION_QUERY: Final = Unsupported(
    _EXPRESSIONS,
    "{}(query)",
    hint="use ARRAY_AGG or COLLECT",
    each=_words("ARRAY", "MAP", "MULTISET"),
    says=NEVER,
)
JDBC_ESCAPE: Final = Unsupported(
    _EXPRESSIONS,
    "JDBC escape syntax `{...}`",
    hint="write the function or literal without the braces",
    says=NEVER,
)
DEFAULT_ARGUMENT: Final = Unsupported(
    _EXPRESSIONS, "the DEFAULT argument", hint="leave the argument out", says=NEVER
)

# --- types -------------------------------------------------------------------------------------

TYPE: Final = Unsupported(
    _TYPES,
    "type {}",
    each={
        "RAW": "use BYTES",
        "STRUCTURED": "use ROW<...>",
        "VARIANT": "use STRING with the JSON functions",
        "BITMAP": "use BYTES",
        "REAL": "use FLOAT",
        "DATETIME": "use TIMESTAMP",
        "CLOB": "use STRING",
        "BLOB": "use BYTES",
        "NCHAR": "use CHAR",
        "NATIONAL": "use CHAR or VARCHAR",
        **_words("ANY", "CURSOR", "GEOMETRY"),
    },
    says=NEVER,
)
WITH_TIME_ZONE: Final = Unsupported(
    _TYPES,
    "WITH TIME ZONE",
    hint="use TIMESTAMP_LTZ, an instant displayed in the session time zone",
    says=NEVER,
)
