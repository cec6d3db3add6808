"""What must hold of every built-in function, whatever its theme."""

import re

import pytest

from tidemark import functions
from tidemark import types as t
from tidemark.functions.registry import Argument, Function, SignatureMismatch, python_name

FUNCTIONS = [function for table in functions.TABLES for function in table]
NAMES = [function.name for function in FUNCTIONS]


def places(template: str) -> set[int]:
    return {int(number) for number in re.findall(r"\{(\d+)\}", template)}


def most_arguments(function: Function) -> int:
    return max(
        1000 if any(p.repeated for p in signature) else len(signature)
        for signature in function.signatures
    )


def fewest_arguments(function: Function) -> int:
    return min(sum(not p.optional for p in signature) for signature in function.signatures)


@pytest.mark.parametrize("function", FUNCTIONS, ids=NAMES)
def test_every_function_has_a_result_type_and_a_theme(function):
    assert function.category
    assert function.summary.endswith("."), "a summary is a sentence"


@pytest.mark.parametrize(
    "function", [f for f in FUNCTIONS if isinstance(f.spark, str)], ids=lambda f: f.name
)
def test_a_template_mentions_only_arguments_that_are_always_there(function):
    mentioned = places(function.spark)

    assert all(place < most_arguments(function) for place in mentioned)
    assert all(place < fewest_arguments(function) for place in mentioned), (
        "a template cannot stand for a call that leaves an argument out"
    )


@pytest.mark.parametrize("function", [f for f in FUNCTIONS if f.python], ids=lambda f: f.name)
def test_a_kernel_has_a_name_that_spark_can_read(function):
    assert re.fullmatch(r"[a-z_][a-z0-9_]*", python_name(function.name))


def test_no_two_kernels_share_a_name():
    names = [python_name(function.name) for function in FUNCTIONS if function.python]

    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", ["SUBSTRING", "LPAD", "SPLIT_INDEX", "JSON_VALUE", "CONCAT"])
def test_a_function_refuses_arguments_it_was_not_made_for(name):
    function = functions.BUILT_IN[name]

    with pytest.raises(SignatureMismatch):
        function.resolve([])
    with pytest.raises(SignatureMismatch):
        function.resolve([Argument(t.Boolean())] * 3)
