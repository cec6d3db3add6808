"""What is refused of the options of tables that are looked up, as Flink 2.3 refuses it."""

from __future__ import annotations

import pytest

from tests.connectors import tables
from tidemark.connectors import registry
from tidemark.errors import OptionError

TABLE = (
    "CREATE TABLE t (k INT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:x.db', "
    "'table-name' = 't', {})"
)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("'lookup.cache' = 'PARTIAL'", "a PARTIAL cache requires a limit"),
        (
            "'lookup.cache' = 'PARTIAL', 'lookup.cache.ttl' = '1 s', 'lookup.cache.max-rows' = '1'",
            "a PARTIAL cache requires a limit",
        ),
        (
            "'lookup.cache' = 'PARTIAL', 'lookup.partial-cache.max-rows' = '-1'",
            "'lookup.partial-cache.max-rows' must be 0 or more",
        ),
        ("'lookup.max-retries' = '-1'", "'lookup.max-retries' must be 0 or more"),
        ("'lookup.cache.ttl' = '1 min'", "'lookup.cache.ttl' requires 'lookup.cache.max-rows'"),
        ("'lookup.cache.max-rows' = '5'", "'lookup.cache.max-rows' requires 'lookup.cache.ttl'"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        registry.options_of(tables.declared(TABLE.format(options)))


@pytest.mark.parametrize(
    "limit", ["max-rows' = '0", "expire-after-write' = '1 s", "expire-after-access' = '1 s"]
)
def test_one_limit_is_enough_for_a_partial_cache(limit):
    options = f"'lookup.cache' = 'PARTIAL', 'lookup.partial-cache.{limit}'"

    assert registry.options_of(tables.declared(TABLE.format(options)))["lookup.cache"] == "PARTIAL"
