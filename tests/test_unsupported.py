"""What is not supported is declared once: errors and docs say the same of it."""

from __future__ import annotations

import ast
from pathlib import Path
from types import ModuleType

import pytest

import tidemark
from tidemark.catalog import unsupported as of_catalogs
from tidemark.dialect import unsupported as of_dialect
from tidemark.errors import Span
from tidemark.plan import unsupported as of_plans
from tidemark.unsupported import NEVER, Unsupported, declared_in

PACKAGE = Path(tidemark.__file__).parent
LAYERS = ("dialect", "catalog", "functions", "plan")
# What is refused here are values of every kind, not a feature with a name.
WITHOUT_A_NAME = {
    "functions/arrow_types.py",  # a type of Arrow's that Flink does not have
    "functions/spark_text.py",  # a precision that Spark's times do not have
    "plan/scalars/binder.py",  # any other expression
    "plan/scalars/conversions.py",  # the first one again, at its place
}

OBJECTS = Unsupported(
    "Statements",
    "CREATE {}",
    why="there are none",
    hint="leave it out",
    each={"MODEL": None, "INDEX": "use PRIMARY KEY", "MODULE": None},
    says=NEVER,
)


def test_the_error_names_the_word_that_was_found():
    error = OBJECTS.error(Span(1, 4), "INDEX", where=" (left side)")

    assert error.message == "CREATE INDEX is not supported (left side)"
    assert (error.at, error.notes, error.hint) == (
        Span(1, 4),
        {"why": "there are none"},
        "use PRIMARY KEY",
    )


def test_words_with_one_hint_share_a_line_in_the_docs():
    assert [*OBJECTS.documented()] == [
        ("CREATE MODEL, MODULE", "there are none", "leave it out"),
        ("CREATE INDEX", "there are none", "use PRIMARY KEY"),
    ]


def test_the_docs_say_where_a_feature_is_not_supported():
    later = Unsupported("Windows", "ORDER BY", says="is not supported in windows yet")

    assert later.comes_later
    assert [*later.documented()] == [("ORDER BY in windows", "", "")]
    assert not OBJECTS.comes_later


def test_features_of_sql_are_refused_by_their_declarations():
    raised = {
        path.relative_to(PACKAGE).as_posix()
        for layer in LAYERS
        for path in (PACKAGE / layer).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "NotSupported"
    }

    assert raised == WITHOUT_A_NAME


@pytest.mark.parametrize("module", [of_dialect, of_catalogs, of_plans])
def test_what_is_declared_is_refused_somewhere(module: ModuleType):
    layer = Path(module.__file__ or "").parent
    code = "\n".join(path.read_text(encoding="utf-8") for path in layer.rglob("*.py"))
    names = {name for name, value in vars(module).items() if isinstance(value, Unsupported)}

    assert len(names) == len(declared_in(module)) > 0
    assert [name for name in names if f"unsupported.{name}" not in code] == []
