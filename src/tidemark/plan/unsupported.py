"""What queries may say and cannot be run yet. When a feature is built, its declaration goes."""

from __future__ import annotations

from typing import Final

from tidemark.catalog.options import LOAD_PHASE
from tidemark.unsupported import NEVER, Unsupported

_QUERIES, _JOINS, _WINDOWS = "Queries", "Joins", "Windows and aggregates"
_EXPRESSIONS = "Expressions"

ARE_NOT_YET, ARE_NEVER = "are not supported yet", "are not supported"

# --- queries -----------------------------------------------------------------------------------

IN_PATTERNS: Final = Unsupported(
    _QUERIES,
    "{} in MATCH_RECOGNIZE",
    says=NEVER,
    each={
        "an anchor without a row": "put a variable after `^` or before `$`",
        "a pattern of more than 1,000 variables, repeated ones counted each time,": (
            "use smaller bounds in the quantifiers of groups, or * and +"
        ),
        "`*`, `+` or `{n,}` after a group that may be empty": "write (A | B)* for (A* B?)*",
        "an exclusion `{- -}` with ONE ROW PER MATCH": "use ALL ROWS PER MATCH",
    },
)
IN_MATCHES: Final = Unsupported(
    _QUERIES,
    "{} in MATCH_RECOGNIZE",
    says=NEVER,
    each={
        "PREV inside FIRST or LAST": "write PREV(LAST(A.x))",
        "NEXT inside FIRST or LAST": "write NEXT(LAST(A.x))",
        "CLASSIFIER inside NEXT": "use ALL ROWS PER MATCH, and look at the row after it",
        "CLASSIFIER inside PREV": "use LAST(CLASSIFIER(), 1) for the row before in the match",
        "CLASSIFIER inside an aggregate": "use ALL ROWS PER MATCH, and aggregate its rows",
    },
)
RELATION: Final = Unsupported(
    _QUERIES, "this", title="anything else in FROM", says="is not supported in FROM yet"
)

IN_BUCKETS: Final = Unsupported(
    _QUERIES,
    "INSERT INTO a table that is DISTRIBUTED BY",
    why="no connector writes into buckets, and no connector that comes with Flink does",
    hint="leave DISTRIBUTED out",
    says=NEVER,
)

# --- joins -------------------------------------------------------------------------------------

AS_OF_ALONE: Final = Unsupported(
    _JOINS,
    "FOR SYSTEM_TIME AS OF without a left side",
    why="versions are looked up for the rows of the left side of a join",
)
OUTER_CONDITION: Final = Unsupported(
    _JOINS,
    "this part of an outer join's condition",
    title="some operations between the sides in an outer join's condition",
    why="it decides which rows are padded, so it runs inside the operator, which knows "
    "comparisons, logic, choices, simple arithmetic and common functions of strings and times",
    hint="compute it on one side, or use an inner join",
)
TIME_TRAVEL: Final = Unsupported(
    _QUERIES,
    "time travel, FOR SYSTEM_TIME AS OF a point in time,",
    why="its connector keeps no earlier versions of its tables; `delta` and `iceberg` do",
    hint="filter by a column with a time, or write AS OF a time attribute in a join",
    says=NEVER,
    title="time travel, FOR SYSTEM_TIME AS OF a point in time, with connectors without versions",
)
WINDOW_JOIN_BY_CLOCK: Final = Unsupported(
    _JOINS,
    "window joins over processing-time windows",
    why="both sides need a watermark to know when a window has ended",
    hint="use windows over a column with a WATERMARK",
    says=ARE_NEVER,
)
OUTER_TEMPORAL_JOIN: Final = Unsupported(
    _JOINS,
    "{} temporal joins",
    why="a version without a left row has no time to join at",
    hint="swap the sides: put the versioned table on the right of a LEFT JOIN",
    each={"RIGHT": None, "FULL": None},
    says=ARE_NEVER,
)
OUTER_SNAPSHOT_JOIN: Final = Unsupported(
    _JOINS,
    "{} joins with LATERAL SNAPSHOT",
    why="a row of the table would be emitted when it is known that no left row matches it",
    hint="use LEFT JOIN or INNER JOIN (same in Flink)",
    each={"RIGHT": None, "FULL": None},
    says=ARE_NEVER,
)
LOOKUP_JOIN: Final = Unsupported(
    _JOINS,
    "a processing-time temporal join with a stream",
    why="left rows would not wait for the initial content of the right side, so the results would "
    "depend on timing (FLINK-19830)",
    hint="join with a bounded table or one that can be looked up; or by event time; or SET "
    f"'{LOAD_PHASE}' = '10 s': left rows then wait until the right side has been silent for this "
    "long; or use a temporal table function, LATERAL TABLE(f(o.proctime)), which does not wait",
    says="is not supported without a load phase",
)

# --- subqueries -------------------------------------------------------------------------------

SUBQUERY: Final = Unsupported(
    _QUERIES,
    "a subquery here",
    title="a subquery outside of SELECT, WHERE, GROUP BY, HAVING and ON",
    hint="use it in one of these, or join it",
    says=NEVER,
)
SUBQUERY_OF_BOTH_SIDES: Final = Unsupported(
    _QUERIES,
    "a subquery that refers to both sides of an outer join in its ON",
    hint="join one side with the subquery first",
    says=NEVER,
)
ROWS_IN_VALUE: Final = Unsupported(
    _QUERIES,
    "IN with several nullable columns and a subquery",
    title="IN with several nullable columns and a subquery, where NULL differs from FALSE",
    why="it may be NULL in ways that Flink rejects too",
    hint="use it in WHERE or WHEN, or test that the columns are not NULL",
    says=NEVER,
)
CORRELATED_VALUE: Final = Unsupported(
    _QUERIES,
    "this value of outer columns in a correlated subquery",
    title="a value of outer columns in a correlated subquery with RIGHT or FULL joins",
    hint="join the tables in a view",
    says=NEVER,
)
CORRELATED: Final = Unsupported(
    _QUERIES,
    "{} in a correlated subquery",
    title="WINDOW, QUALIFY and GROUPING SETS in a correlated subquery; ORDER BY, LIMIT and OFFSET "
    "in one with groups or DISTINCT, and LIMIT without ORDER BY but in EXISTS",
    why="Flink rejects it, or applies it to the rows of all outer rows together",
    says=NEVER,
)
CORRELATED_GROUP: Final = Unsupported(
    _QUERIES,
    "this condition in a correlated subquery",
    title="conditions other than `=` in a correlated subquery with RIGHT or FULL joins",
    why="unmatched rows would have to be padded for each outer row",
    hint="join the tables in a view",
    says=NEVER,
)
CORRELATED_COLLECTION: Final = Unsupported(
    _QUERIES,
    "UNNEST of an outer column in a subquery",
    title="UNNEST and table functions of outer columns in a subquery, except in `LATERAL` without "
    "aggregates, DISTINCT and LIMIT",
    why="same in Flink",
    hint="join the table with UNNEST first: FROM t CROSS JOIN UNNEST(...), then filter or group",
    says=NEVER,
)
CORRELATED_TOTAL: Final = Unsupported(
    _QUERIES,
    "a correlated IN with several columns and aggregates without GROUP BY",
    why="there is a row even where no rows belong to the outer one",
    hint="compare each column: ... = (SELECT ...)",
    says=NEVER,
)

# --- windows and aggregates --------------------------------------------------------------------

NULLS_CLAUSE: Final = Unsupported(
    _WINDOWS,
    "IGNORE NULLS and RESPECT NULLS",
    title="IGNORE NULLS, and RESPECT NULLS for other functions than LAG and LEAD",
    why="Flink rejects them for most functions and ignores them for LAG and LEAD",
    hint="leave it out; aggregate functions skip NULLs anyway",
    says=ARE_NEVER,
)
NOT_FLINKS_AGGREGATE: Final = Unsupported(
    _WINDOWS,
    "aggregate function {}",
    why="Flink does not have it",
    says=NEVER,
    each={
        "NTH_VALUE": "use ARRAY_AGG(x), and take its element",
        "SUM0": "use $SUM0(x), or COALESCE(SUM(x), 0)",
    },
)
RANK_WITHOUT_ORDER: Final = Unsupported(
    _WINDOWS,
    "ROW_NUMBER() without ORDER BY",
    why="it does not specify which rows come first (same in Flink)",
    hint="add ORDER BY",
    says=NEVER,
)
OVER_CHANGING_TIMES: Final = Unsupported(
    _WINDOWS,
    "OVER and RANK by the processing time of rows that change",
    why="a row is retracted at another time than it was inserted (same in Flink)",
    hint="order by a column of the rows, or keep the newest row of each key by ROW_NUMBER",
    says=ARE_NEVER,
)
GROUPING_SETS_OF_WINDOWS: Final = Unsupported(
    _WINDOWS,
    "GROUPING SETS, ROLLUP and CUBE",
    why="Flink does not support this either",
    hint="use the table function, TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), ...)), and group "
    "by window_start and window_end",
    says="are not supported with a group window",
)
ALIGNED_TUMBLE: Final = Unsupported(
    _WINDOWS,
    "TUMBLE with an alignment",
    hint="use the table function, TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), ...))",
    says="is not supported in GROUP BY",
)
WITHIN_GROUP: Final = Unsupported(
    _WINDOWS,
    "WITHIN GROUP (ORDER BY ...)",
    why="rows are aggregated in arrival order (same in Flink)",
    hint="ARRAY_JOIN(ARRAY_SORT(ARRAY_AGG(s)), ',') sorts what it joins",
    says=NEVER,
)
ORDER_IN_JSON: Final = Unsupported(_WINDOWS, "ORDER BY in a JSON function", says=NEVER)
LATE_SESSIONS: Final = Unsupported(
    _WINDOWS,
    "`$late`",
    why="lateness depends on sessions over the rows of all branches",
    hint="create a view of the UNION ALL, and read its late rows",
    says="is not supported for session windows over UNION ALL",
)

LATE_CHANGELOGS: Final = Unsupported(
    _WINDOWS,
    "`$late`",
    why="the operators drop rows that the function has created from those of the table",
    hint="create a view that calls the function, and read its late rows",
    says="is not supported for tables that are read by TO_CHANGELOG and FROM_CHANGELOG",
)

LATE_FOR_FRAMES: Final = Unsupported(
    _WINDOWS,
    "`$late` of OVER with bounded frames in a job of its own",
    why="lateness depends on what was emitted for the key, which only the operator knows",
    hint="read late rows by an INSERT of the statement set that only filters and projects them",
    says=NEVER,
)

CURRENT_WATERMARK: Final = Unsupported(
    _WINDOWS,
    "CURRENT_WATERMARK",
    title="CURRENT_WATERMARK above operators and UNION ALL of several tables, and for tables whose "
    "partitions have watermarks of their own",
    why="it would depend on which rows have arrived together; in Flink, on when they arrived",
    hint="select it in a view that only projects and filters rows of a table with a WATERMARK",
    says=NEVER,
)

# --- expressions -------------------------------------------------------------------------------

NAMED_ARGUMENTS: Final = Unsupported(
    _EXPRESSIONS,
    "named arguments of scalar functions",
    hint="pass the arguments by position",
    says=ARE_NEVER,
)
