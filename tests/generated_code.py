"""In which tests Spark generates Java code for a plan, and in which it interprets expressions.

Both compute the same. But code is generated anew for each micro-batch and compiled for each plan,
which takes a third of the CPU time of short queries; and planning a batch again after each exchange
takes a fifth. So neither is done for most of the recorded cases, and tests of sessions and stateful
operators: only for cases of expressions, for a sample that changes only when tests are renamed, and
for tests that are marked `generated_code`; with `--generate-code` for all. Both are done in all other
tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from zlib import crc32

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The tests that interpret expressions, apart from the sample.
INTERPRETED: Final = ("tests/conformance/", "tests/session/", "tests/stateful/")
# One of so many tests is in the sample.
ONE_OF: Final = 5
# The areas of recorded cases that are about expressions, so about what is generated for them.
EXPRESSIONS: Final = {"types", "functions", "expressions", "quirks"}
# Of the areas without any in the sample.
CASES: Final = {
    "changelog/from_join",
    "emit/early_tumble",
    "emit/late_hop",
    "emit/early_and_lateness",
}
_NAMED: Final = "test_answers_as_flink_did["


def asked_of(test: pytest.Item) -> bool:
    """Whether code is generated in this test."""
    return bool(
        test.config.getoption("--generate-code")
        or test.get_closest_marker("generated_code")
        or not test.nodeid.startswith(INTERPRETED)
        or is_sampled(test.nodeid)
    )


def is_sampled(test: str) -> bool:
    """Whether the test with this node ID is in the sample, or a case of expressions."""
    case = test.partition(_NAMED)[2].rstrip("]")
    if case.partition("/")[0] in EXPRESSIONS or case in CASES:
        return True
    return crc32(test.encode()) % ONE_OF == 0


def choose(spark: SparkSession, *, generated: bool) -> None:
    """Let Spark generate code for the queries that begin from now on, or not."""
    spark.conf.set("spark.sql.codegen.wholeStage", str(generated).lower())
    spark.conf.set("spark.sql.codegen.factoryMode", "FALLBACK" if generated else "NO_CODEGEN")
    spark.conf.set("spark.sql.adaptive.enabled", str(generated).lower())
