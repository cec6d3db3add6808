"""Both ways in which Spark computes are tested, however the tests are chosen."""

from collections import Counter

from tests.generated_code import EXPRESSIONS, choose, is_sampled
from tests.recorded import CASES

TEST = "tests/conformance/test_conformance.py::test_answers_as_flink_did[{}]"


def test_of_each_area_some_recorded_cases_run_with_generated_code_and_some_without():
    generated, all_cases = Counter(), Counter()
    for case in CASES:
        all_cases[case.area] += 1
        generated[case.area] += is_sampled(TEST.format(case.name))

    assert {area for area in all_cases if generated[area] == all_cases[area]} == EXPRESSIONS
    assert min(generated[area] for area in all_cases) >= 1
    assert generated.total() > all_cases.total() // 4


def test_a_fifth_of_the_tests_is_sampled():
    tests = [f"tests/session/test_{a}.py::test_{b}" for a in range(20) for b in range(20)]

    assert 60 <= sum(map(is_sampled, tests)) <= 100


def test_code_is_generated_where_nothing_else_is_chosen(spark):
    assert spark.conf.get("spark.sql.codegen.factoryMode") == "FALLBACK"
    assert "*(1)" in plan_of(spark)


def test_no_code_is_generated_if_expressions_are_to_be_interpreted(spark):
    choose(spark, generated=False)

    assert "*(1)" not in plan_of(spark)


def plan_of(spark) -> str:
    [row] = spark.sql("EXPLAIN SELECT id + 1 FROM range(3)").collect()
    return row[0]
