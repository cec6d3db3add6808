"""Operators of scalar expressions, with Flink's precedence."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

from sqlglot import exp

from tidemark.dialect import nodes, unsupported
from tidemark.dialect.cursor import MAX_DEPTH
from tidemark.dialect.types import TypeParser

# Precedence of operators, loosest first; observed on Flink 2.3.
OR, AND, NOT, IS, COMPARISON, RANGE, SUM, PRODUCT, SIGN = range(1, 10)

# Longer chains of operators are rejected: each operator makes the tree one level deeper.
MAX_OPERATORS = 200

BINARY: dict[str, tuple[int, type[exp.Expression]]] = {
    "OR": (OR, exp.Or),
    "AND": (AND, exp.And),
    "=": (COMPARISON, exp.EQ),
    "<>": (COMPARISON, exp.NEQ),
    "<": (COMPARISON, exp.LT),
    "<=": (COMPARISON, exp.LTE),
    ">": (COMPARISON, exp.GT),
    ">=": (COMPARISON, exp.GTE),
    "+": (SUM, exp.Add),
    "-": (SUM, exp.Sub),
    "*": (PRODUCT, exp.Mul),
    "/": (PRODUCT, exp.Div),
    "%": (PRODUCT, exp.Mod),
    "||": (PRODUCT, exp.DPipe),
}

_PERIODS = ("CONTAINS", "EQUALS", "PRECEDES", "SUCCEEDS")

_NOT_OPERATORS = {
    "::": ("`::` is not an operator", "write CAST(x AS type)"),
    "!=": ("`!=` is not an operator", "write <>"),
    "^": ("`^` is not an operator", "use POWER(x, y)"),
    "|": ("`|` is not an operator", "use || to join strings"),
    "ISNULL": ("ISNULL is not an operator", "write IS NULL"),
    "NOTNULL": ("NOTNULL is not an operator", "write IS NOT NULL"),
}
QUERY_STARTS = ("SELECT", "WITH", "VALUES", "TABLE")
QUERY_GOES_ON = ("UNION", "INTERSECT", "EXCEPT", "MINUS", "ORDER", "LIMIT", "OFFSET", "FETCH", ")")


class OperatorParser(TypeParser):
    """Adds `expression` to a cursor."""

    @abstractmethod
    def query(self) -> exp.Expression:
        """A query inside an expression."""

    @abstractmethod
    def subquery(self) -> exp.Expression:
        """A query in parentheses."""

    @abstractmethod
    def _operand(self, loosest: int) -> exp.Expression:
        """An operand and the prefix operators before it."""

    def expression(self) -> exp.Expression:
        with self.deeper():
            return self._operators(OR)

    def starts_query(self, ahead: int = 0) -> bool:
        """Whether a query starts here, or parentheses that can only contain a query."""
        while self.peek(ahead) == "(" and ahead <= MAX_DEPTH:
            if self.key_after_closing(self.here + ahead) not in QUERY_GOES_ON:
                return False
            ahead += 1
        return self.peek(ahead) in QUERY_STARTS

    def _operators(self, loosest: int) -> exp.Expression:
        """An operand and all following operators that bind at least as tightly as `loosest`."""
        start = self.here
        left = self._operand(loosest)
        count = 0
        while (longer := self._extend(left, loosest)) is not None:
            left = self.located(longer, start)
            count += 1
            self._check_length(count, start)
        return left

    def _check_length(self, count: int, start: int) -> None:
        if count > MAX_OPERATORS:
            self.fail(
                f"more than {MAX_OPERATORS} operators in a row",
                at=self.span_from(start),
                hint="use IN (...) for alternatives, or group parts in parentheses",
            )

    def _extend(self, left: exp.Expression, loosest: int) -> exp.Expression | None:
        """`left` with the next operator, or None if no operator binds tightly enough."""
        key = self.key
        if key in BINARY:
            tightness, node = BINARY[key]
            if tightness < loosest:
                return None
            self.here += 1
            return self._binary(node, left, tightness)
        if key == "IS" and loosest <= COMPARISON:
            return self._is(left, loosest)
        if loosest <= COMPARISON and self._at_period():
            return self._period(left)
        if loosest <= RANGE:
            return self._range(left)
        self._refuse_operator(key)
        return None

    def _binary(
        self, node: type[exp.Expression], left: exp.Expression, tightness: int
    ) -> exp.Expression:
        quantifier = self.key
        if tightness == COMPARISON and quantifier in ("ANY", "SOME", "ALL") and self.peek() == "(":
            return node(this=left, expression=self._quantified())
        return node(this=left, expression=self._operators(tightness + 1))

    def _quantified(self) -> exp.Expression:
        start = self.here
        kind = exp.All if self.next().text.upper() == "ALL" else exp.Any
        if self.peek() not in QUERY_STARTS:
            self.refuse(unsupported.QUANTIFIED_LIST, start=start)
        return self.located(kind(this=self.subquery()), start)

    def _is(self, left: exp.Expression, loosest: int) -> exp.Expression | None:
        negated = self.peek() == "NOT"
        after = self.peek(2 if negated else 1)
        if after == "DISTINCT":
            self.here += 3 if negated else 2
            self.expect("FROM")
            node = exp.NullSafeEQ if negated else exp.NullSafeNEQ
            return node(this=left, expression=self._operators(COMPARISON + 1))
        if loosest > IS:
            return None
        start = self.here
        self.here += 2 if negated else 1
        test = self._test(left, start)
        return exp.Not(this=test) if negated else test

    def _test(self, left: exp.Expression, start: int) -> exp.Expression:
        """What follows IS [NOT]."""
        at = self.here
        if self.take("JSON"):
            kind = self.take_any("VALUE", "SCALAR", "ARRAY", "OBJECT") or "VALUE"
            return exp.Anonymous(this=f"IS JSON {kind}", expressions=[left])
        if self.at("A", "EMPTY"):
            self.here += 2 if self.key == "A" else 1
            self.refuse(unsupported.SET_PREDICATE, start=start)
        key = self.expect_any("NULL", "TRUE", "FALSE", "UNKNOWN")
        return exp.Is(this=left, expression=self.located(constant(key), at))

    def _range(self, left: exp.Expression) -> exp.Expression | None:
        """[NOT] BETWEEN, IN, LIKE and SIMILAR TO."""
        negated = self.at("NOT")
        word = self.peek() if negated else self.key
        read = self._RANGES.get(word)
        if read is None:
            self._refuse_operator(word)
            return None
        start = self.here
        self.here += 2 if negated else 1
        found = read(self, left)
        return exp.Not(this=self.located(found, start)) if negated else found

    def _between(self, left: exp.Expression) -> exp.Expression:
        symmetric = self.take_any("SYMMETRIC", "ASYMMETRIC") == "SYMMETRIC"
        low = self._operators(NOT)
        self.expect("AND", hint="BETWEEN takes two bounds: x BETWEEN low AND high")
        high = self._operators(RANGE + 1)
        return exp.Between(this=left, low=low, high=high, symmetric=symmetric or None)

    def _in(self, left: exp.Expression) -> exp.Expression:
        if self.at("(") and self.starts_query(1):
            return exp.In(this=left, query=self.subquery())
        self.expect("(")
        if self.at(")"):
            self.fail("IN needs at least one value")
        return exp.In(this=left, expressions=self.enclosed(self.expression))

    def _like(self, left: exp.Expression) -> exp.Expression:
        return self._escaped(exp.Like(this=left, expression=self._operators(RANGE)))

    def _similar(self, left: exp.Expression) -> exp.Expression:
        self.expect("TO")
        return self._escaped(exp.SimilarTo(this=left, expression=self._operators(RANGE)))

    def _escaped(self, pattern: exp.Expression) -> exp.Expression:
        if not self.take("ESCAPE"):
            return pattern
        return exp.Escape(this=pattern, expression=self._operators(RANGE + 1))

    _RANGES: dict[str, Callable[[OperatorParser, exp.Expression], exp.Expression]] = {  # noqa: RUF012
        "BETWEEN": _between,
        "IN": _in,
        "LIKE": _like,
        "SIMILAR": _similar,
    }

    def _at_period(self) -> bool:
        word = self.peek() if self.at("IMMEDIATELY") else self.key
        return word == "OVERLAPS" or word in _PERIODS

    def _period(self, left: exp.Expression) -> exp.Expression:
        immediately = "IMMEDIATELY " if self.take("IMMEDIATELY") else ""
        kind = immediately + self.expect_any("OVERLAPS", *_PERIODS)
        right = self._operators(COMPARISON + 1)
        if kind == "OVERLAPS":
            return exp.Overlaps(this=left, expression=right)
        return nodes.PeriodPredicate(this=left, kind=kind, expression=right)

    def _refuse_operator(self, key: str) -> None:
        if key in _NOT_OPERATORS:
            message, hint = _NOT_OPERATORS[key]
            self.fail(message, hint=hint)
        if key in unsupported.OPERATOR.each:
            self.refuse(unsupported.OPERATOR, key)


def constant(word: str) -> exp.Expression:
    """The node of NULL, TRUE, FALSE or UNKNOWN."""
    if word == "NULL":
        return exp.Null()
    if word == "UNKNOWN":
        return nodes.Unknown()
    return exp.Boolean(this=word == "TRUE")
