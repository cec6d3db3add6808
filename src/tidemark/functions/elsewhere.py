"""Functions that other databases have under names that Flink does not know, and what to write."""

from __future__ import annotations

from typing import Final

INSTEAD: Final[dict[str, str]] = {
    **dict.fromkeys(("NVL", "ISNULL"), "COALESCE(a, b)"),
    "IIF": "IF(a > b, a, b)",
    **dict.fromkeys(("LEN", "LENGTHB"), "CHAR_LENGTH(s)"),
    "UCASE": "UPPER(s)",
    "LCASE": "LOWER(s)",
    **dict.fromkeys(("STRPOS", "CHARINDEX"), "POSITION('x' IN s)"),
    "STRING_SPLIT": "SPLIT(s, ',')",
    "ARRAY_TO_STRING": "ARRAY_JOIN(xs, ',')",
    **dict.fromkeys(("ARRAY_SIZE", "ARRAY_LENGTH", "SIZE"), "CARDINALITY(xs)"),
    **dict.fromkeys(("STRUCT", "NAMED_STRUCT"), "ROW(a, b)"),
    "TO_JSON": "JSON_STRING(x)",
    **dict.fromkeys(
        ("GET_JSON_OBJECT", "JSON_EXTRACT", "JSON_EXTRACT_SCALAR"), "JSON_VALUE(s, '$.x')"
    ),
    # times
    **dict.fromkeys(("GETDATE", "SYSDATE"), "CURRENT_TIMESTAMP"),
    **dict.fromkeys(("DATE_TRUNC", "TIMESTAMP_TRUNC"), "FLOOR(ts TO HOUR)"),
    **dict.fromkeys(("DATEDIFF", "DATE_DIFF"), "TIMESTAMPDIFF(DAY, a, b)"),
    **dict.fromkeys(("DATE_ADD", "DATEADD"), "ts + INTERVAL '1' DAY"),
    **dict.fromkeys(("DATE_SUB", "DATESUB"), "ts - INTERVAL '1' DAY"),
    **dict.fromkeys(("TO_CHAR", "STRFTIME"), "DATE_FORMAT(ts, 'yyyy-MM-dd')"),
    **dict.fromkeys(("TIMESTAMP_MILLIS", "FROM_UNIXTIME_MILLIS"), "TO_TIMESTAMP_LTZ(n, 3)"),
    # aggregates
    **dict.fromkeys(("STRING_AGG", "GROUP_CONCAT"), "LISTAGG(s, ',')"),
    "COLLECT_LIST": "ARRAY_AGG(x)",
    "COLLECT_SET": "ARRAY_AGG(DISTINCT x)",
    **dict.fromkeys(("COUNT_IF", "COUNTIF"), "COUNT(*) FILTER (WHERE a > b)"),
    "FIRST": "FIRST_VALUE(x)",
    "LAST": "LAST_VALUE(x)",
    **dict.fromkeys(
        (
            *("PERCENTILE_CONT", "PERCENTILE_DISC", "PERCENTILE_APPROX", "APPROX_PERCENTILE"),
            *("QUANTILE", "MEDIAN"),
        ),
        "PERCENTILE(x, 0.5)",
    ),
    # tables
    **dict.fromkeys(("EXPLODE", "FLATTEN"), "CROSS JOIN UNNEST(xs) AS u (x)"),
}


def instead_of(name: str) -> str | None:
    """A hint for the name of an unknown function.

    >>> instead_of("nvl")
    'write COALESCE(a, b)'
    """
    written = INSTEAD.get(name.upper())
    return f"write {written}" if written else None
