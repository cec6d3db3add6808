"""When an interactive shell may run what was typed."""

from __future__ import annotations

import pytest

from tidemark.dialect import is_complete


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1;",
        "SELECT 1; -- done",
        "SELECT 1; SELECT 2;",
        "SELECT 'a;b';",
        "SELECT CASE WHEN a THEN b END;",
        "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; END;",
        "BEGIN STATEMENT SET;\nINSERT INTO a SELECT 1;\nEND;",
        "BEGIN STATEMENT SET; INSERT INTO a SELECT CASE WHEN x THEN 1 END; END;",
        "EXPLAIN STATEMENT SET BEGIN INSERT INTO a SELECT 1; END;",
        "COMPILE PLAN 'p' FOR STATEMENT SET BEGIN INSERT INTO a SELECT 1; END;",
        "SELECT # ;",
        "nonsense;",
    ],
)
def test_whole_statements_are_complete(text):
    assert is_complete(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ";",
        "-- SELECT 1;",
        "SELECT 1",
        "SELECT 1; SELECT",
        "SELECT 'a;",
        "SELECT `a;",
        "SELECT 1 /* ;",
        "BEGIN STATEMENT SET;",
        "BEGIN STATEMENT SET; INSERT INTO a SELECT 1;",
        "BEGIN STATEMENT SET; INSERT INTO a SELECT CASE WHEN x THEN 1 END;",
        "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1;",
        "EXECUTE STATEMENT SET",
        "EXPLAIN STATEMENT SET BEGIN INSERT INTO a SELECT 1;",
        "COMPILE PLAN 'p' FOR STATEMENT SET BEGIN INSERT INTO a SELECT 1;",
    ],
)
def test_half_statements_are_not(text):
    assert not is_complete(text)
