"""The dialect as sqlglot knows dialects: `sqlglot.parse_one(text, dialect=Flink)`.

For sqlglot's own tools (scopes, transformations, other people's code). It reads queries only;
statements go through `parse_script`.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect, NormalizationStrategy
from sqlglot.generator import Generator
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token

from tidemark.dialect.print_tree import TreePrinter
from tidemark.dialect.reading import parse_query
from tidemark.dialect.tokens import FlinkTokenizer


class FlinkParser(Parser):
    """Hands the text to our own grammar: sqlglot's accepts far more than Flink does."""

    FUNCTIONS: ClassVar[dict[str, Any]] = {}

    def parse(self, raw_tokens: list[Token], sql: str) -> list[exp.Expr | None]:
        return [parse_query(sql)]


class FlinkGenerator(Generator):
    """Prints trees of this dialect."""

    def generate(self, expression: exp.Expr, copy: bool = True) -> str:
        assert isinstance(expression, exp.Expression)
        return TreePrinter(pretty=bool(self.pretty)).print(expression)


class Flink(Dialect):
    """Flink SQL. Names are case-sensitive, arrays count from one, nulls are the smallest values."""

    NORMALIZATION_STRATEGY = NormalizationStrategy.CASE_SENSITIVE
    INDEX_OFFSET = 1
    NULL_ORDERING = "nulls_are_small"

    Tokenizer = FlinkTokenizer
    Parser = FlinkParser
    Generator = FlinkGenerator
