"""PyFlink's names of functions, and SQL's."""

from __future__ import annotations

from typing import Final


def _upper(names: str) -> dict[str, str]:
    """Names that differ from SQL's only in their case."""
    return {name: name.upper() for name in names.split()}


TESTS: Final = {
    "is_null": "IS NULL",
    "is_not_null": "IS NOT NULL",
    "is_true": "IS TRUE",
    "is_false": "IS FALSE",
    "is_not_true": "IS NOT TRUE",
    "is_not_false": "IS NOT FALSE",
}
AGGREGATES: Final = _upper("""
    sum min max count avg first_value last_value stddev_pop stddev_samp var_pop var_samp collect
    array_agg
""")
# Functions whose first argument is the expression: as properties, and as methods.
PROPERTIES: Final = {
    **_upper("""
        exp log10 log2 ln cosh sinh sin cos tan cot asin acos atan tanh degrees radians sqrt abs
        sign bin hex unhex char_length from_base64 to_base64 ascii chr reverse cardinality element
        map_keys map_values map_entries md5 sha1 sha224 sha256 sha384 sha512
    """),
    "upper_case": "UPPER",
    "lower_case": "LOWER",
    "init_cap": "INITCAP",
}
METHODS: Final = {
    **_upper("""
        round truncate substr replace translate lpad rpad regexp regexp_count regexp_replace
        regexp_extract regexp_extract_all regexp_instr regexp_substr decode encode left right instr
        url_decode url_encode inet_aton inet_ntoa parse_url printf ltrim rtrim btrim repeat
        split_index str_to_map elt split concat array_append array_contains array_distinct
        array_position array_prepend array_remove array_reverse array_slice array_sort array_union
        array_concat array_max array_join array_min array_except array_intersect map_union sha2
        json_quote json_unquote
    """),
    "starts_with": "STARTSWITH",
    "ends_with": "ENDSWITH",
    "substring": "SUBSTR",
    "if_null": "IFNULL",
}
# What PyFlink has besides, apart from `bitmap_...`.
NOT_SUPPORTED: Final = frozenset({"as_argument", "object_update"})
UNITS: Final = {
    f"{unit.lower()}{plural}": unit
    for unit in ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
    for plural in ("", "s")
}
# How many of another unit.
OTHER_UNITS: Final = {"week": (7, "DAY"), "quarter": (3, "MONTH"), "milli": (0.001, "SECOND")}
# What follows the name of a window function.
OF_WINDOWS: Final = {
    "start": "_START",
    "end": "_END",
    "rowtime": "_ROWTIME",
    "proctime": "_PROCTIME",
}
