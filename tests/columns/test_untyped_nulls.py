"""NULL without a type as an argument: Flink refuses most of these calls, here they are NULL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import tidemark
from tidemark import Session, TidemarkError


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with tidemark.connect(engine="local") as session:
        yield session


@pytest.mark.parametrize(
    "call",
    [
        *("UPPER(NULL)", "-NULL", "1 + NULL", "ABS(NULL)", "FLOOR(NULL TO DAY)", "TRIM(NULL)"),
        *("SUBSTRING(NULL, 2)", "SUBSTRING('abc', NULL)", "LEFT(NULL, 2)", "NULL LIKE 'a%'"),
        *("TO_TIMESTAMP_LTZ(NULL)", "TO_TIMESTAMP_LTZ(NULL, 3)", "JSON_VALUE(NULL, '$.a')"),
        *("TIMESTAMPADD(DAY, NULL, NULL)", "NULL = 1", "NULL || 'a'", "GREATEST(1, NULL)"),
    ],
)
def test_a_call_with_an_untyped_null_is_null(session: Session, call: str) -> None:
    assert session.sql(f"SELECT {call} AS x FROM (VALUES (1), (2)) AS t (q)").rows() == [
        {"x": None},
        {"x": None},
    ]


@pytest.mark.parametrize(
    ("call", "expected"),
    [("NULL IS NULL", True), ("NULL IS NOT DISTINCT FROM 1", False), ("COALESCE(NULL, 1)", 1)],
)
def test_what_asks_for_null_gets_an_answer(session: Session, call: str, expected: object) -> None:
    assert session.sql(f"SELECT {call} AS x").rows() == [{"x": expected}]


@pytest.mark.parametrize(
    "call",
    [
        *("ARRAY_MAX(NULL)", "MAP_KEYS(NULL)", "CARDINALITY(NULL)"),
        *("MAX(NULL)", "MIN(NULL)", "COLLECT(NULL)"),
    ],
)
def test_collections_and_extremes_need_a_type(session: Session, call: str) -> None:
    with pytest.raises(TidemarkError, match="argument 1 is NULL, which has no type here; CAST it"):
        session.sql(f"SELECT {call} AS x")
