"""Which functions are computed in columns."""

from tidemark.columns.tables import WRITERS
from tidemark.columns.writer import LAZY
from tidemark.functions import BUILT_IN
from tidemark.functions.json_functions import NESTED_JSON
from tidemark.functions.rewriting import REPLICATED, SINGLE_VALUE
from tidemark.plan.not_null import REQUIRED


def test_each_function_in_columns_is_one_of_sql():
    named = {name.partition(" RETURNING")[0] for name in (*WRITERS, *LAZY)}

    of_planner = {NESTED_JSON.name, SINGLE_VALUE.name, REPLICATED.name, REQUIRED.name}

    assert named - of_planner <= {function.name for function in BUILT_IN.values()}


def test_no_function_is_written_twice():
    assert not WRITERS.keys() & LAZY.keys()
