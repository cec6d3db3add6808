"""Scalar expressions: operators with Flink's precedence, names, literals and constructors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import NoReturn

from sqlglot import exp

from tidemark.dialect import nodes
from tidemark.dialect.cursor import DOUBLE, MAX_DEPTH, NAME, NUMBER, STRING
from tidemark.dialect.keywords import (
    CALLED_WITHOUT_PARENTHESES,
    NEVER_CALLED,
    RESERVED,
    needs_quotes,
)
from tidemark.dialect.literals import binary_of, text_of
from tidemark.dialect.types import UNITS, TypeParser

# How tightly operators bind, from the loosest to the tightest; observed on Flink 2.3.
OR, AND, NOT, IS, COMPARISON, RANGE, SUM, PRODUCT, SIGN = range(1, 10)

# One more operator in a row than this is refused: each makes the tree one level deeper.
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
    "|": ("`|` is not an operator", "texts are joined with ||"),
    "ISNULL": ("ISNULL is not an operator", "write IS NULL"),
    "NOTNULL": ("NOTNULL is not an operator", "write IS NOT NULL"),
}
_UNSUPPORTED_OPERATORS = {
    "RLIKE": "use the function REGEXP(x, pattern)",
    "ILIKE": "use LOWER(x) LIKE ...",
    "MEMBER": None,
    "SUBMULTISET": None,
    "MULTISET": None,
    "COLLATE": None,
    "AT": "use CONVERT_TZ or TIMESTAMP_LTZ",
}

QUERY_STARTS = ("SELECT", "WITH", "VALUES", "TABLE")
QUERY_GOES_ON = ("UNION", "INTERSECT", "EXCEPT", "MINUS", "ORDER", "LIMIT", "OFFSET", "FETCH", ")")


class ExpressionParser(TypeParser):
    """Adds `expression` to a cursor."""

    @abstractmethod
    def query(self) -> exp.Expression:
        """A query, for those in expressions."""

    @abstractmethod
    def call(self, start: int, names: list[str]) -> exp.Expression:
        """The rest of a function call whose name was read; at its opening parenthesis."""

    def expression(self) -> exp.Expression:
        with self.deeper():
            return self._operators(OR)

    # --- operators -----------------------------------------------------------------------------

    def _operators(self, loosest: int) -> exp.Expression:
        """An operand and all operators behind it that bind at least as tightly as `loosest`."""
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
                f"there are more than {MAX_OPERATORS} operators in a row",
                at=self.span_from(start),
                hint="use IN (...) for alternatives, or parentheses for parts",
            )

    def _extend(self, left: exp.Expression, loosest: int) -> exp.Expression | None:
        """`left` with the next operator, or None if there is none that binds tightly enough."""
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
            self.refuse("ANY, SOME or ALL over a list", start=start, hint="use IN (...)")
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
            self.refuse("a test for sets (IS A SET, IS EMPTY)", start=start)
        key = self.expect_any("NULL", "TRUE", "FALSE", "UNKNOWN")
        return exp.Is(this=left, expression=self.located(_constant(key), at))

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

    _RANGES: dict[str, Callable[[ExpressionParser, exp.Expression], exp.Expression]] = {  # noqa: RUF012
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
        if key in _UNSUPPORTED_OPERATORS:
            self.refuse(f"the operator {key}", hint=_UNSUPPORTED_OPERATORS[key])

    # --- operands ------------------------------------------------------------------------------

    def _operand(self, loosest: int) -> exp.Expression:
        start = self.here
        if self.take("NOT"):
            with self.deeper():
                return self.located(exp.Not(this=self._operators(NOT)), start)
        if self.at("-", "+"):
            return self._signed(start)
        return self._fields(self._primary(start), start)

    def _signed(self, start: int) -> exp.Expression:
        negative = self.next().text == "-"
        with self.deeper():
            operand = self._operand(SIGN)
        return self.located(exp.Neg(this=operand), start) if negative else operand

    def _fields(self, operand: exp.Expression, start: int) -> exp.Expression:
        """Fields and elements of an operand: `.name` and `[index]`."""
        if self.at(".") and isinstance(operand, exp.Literal) and operand.is_number:
            self.fail("a number has no fields")
        count = 0
        while (mark := self.take_any("[", ".")) is not None:
            if mark == "[":
                operand = exp.Bracket(this=operand, expressions=[self.expression()])
                self.expect("]")
            else:
                operand = exp.Dot(this=operand, expression=self._field())
            self.located(operand, start)
            count += 1
            self._check_length(count, start)
        return operand

    def _field(self) -> exp.Expression:
        if self.at("*"):
            self.refuse(
                "`*` of an expression", hint="name the fields, or give the row a name first"
            )
        start = self.here
        return self.located(identifier(self.any_word("the name of a field")), start)

    def _primary(self, start: int) -> exp.Expression:
        key = self.key
        read = self._PRIMARIES.get(key)
        if read is not None:
            return self.located(read(self), start)
        if key != NAME and not self.at_word():
            self._refuse_operator(key)
            self.fail_expecting("an expression")
        return self._name_or_call(start)

    def _name_or_call(self, start: int) -> exp.Expression:
        word = self.key
        special = self._SPECIAL_WORDS.get(word)
        if special is not None and (found := special(self)) is not None:
            return self.located(found, start)
        if self.peek() == "(" or word in CALLED_WITHOUT_PARENTHESES:
            self._check_callable(word)
            return self.call(start, [self.next().text])
        if word in RESERVED:
            self._fail_keyword(start)
        return self._dotted(start)

    def _check_callable(self, word: str) -> None:
        if word in NEVER_CALLED:
            self._fail_keyword(self.here)

    def _fail_keyword(self, start: int) -> None:
        text = self.token.text
        self.fail(
            f"expected an expression, found the keyword `{text}`",
            hint=f"to use it as a name, write it in back quotes: `{text}`",
        )

    def _dotted(self, start: int) -> exp.Expression:
        """`a.b.c`, `a.b.*` or a call `a.b.f(...)`."""
        parts: list[exp.Expression] = [self.located(identifier(self.next().text), start)]
        while self.at(".") and len(parts) < 4:
            self.here += 1
            at = self.here
            if self.take("*"):
                star = self.located(exp.Star(), at)
                return self.located(column([*parts, star]), start)
            parts.append(self.located(identifier(self.any_word("a name")), at))
            if self.at("(") and len(parts) > 1:
                return self.call(start, [part.name for part in parts])
        return self.located(column(parts), start)

    # --- literals ------------------------------------------------------------------------------

    def _text(self) -> exp.Expression:
        if self.token.text[0] in "xX":
            return exp.HexString(this=binary_of(self))
        return exp.Literal.string(text_of(self))

    def _number(self) -> exp.Expression:
        return exp.Literal(this=self.next().text, is_string=False)

    def _double_quoted(self) -> NoReturn:
        content = self.token.text[1:-1]
        self.fail(
            f"expected an expression, found the text {self.token.text}",
            hint=f"write '{content}' for a text, `{content}` for a name",
        )

    def _constant_word(self) -> exp.Expression:
        return _constant(self.next().text.upper())

    def _typed_literal(self) -> exp.Expression | None:
        """`DATE '...'`, `TIME '...'`, `TIMESTAMP [WITH LOCAL TIME ZONE] '...'`."""
        kind, length = self.key, 1
        zone = ("WITH", "LOCAL", "TIME", "ZONE")
        if kind == "TIMESTAMP" and tuple(self.peek(n) for n in range(1, 5)) == zone:
            kind, length = "TIMESTAMP_LTZ", 5
        if self.peek(length) != STRING:
            return None
        self.here += length
        return nodes.TypedLiteral(this=text_of(self), kind=kind)

    def _interval(self) -> exp.Expression | None:
        """`INTERVAL '1' DAY`; `INTERVAL x DAY` is `(x * INTERVAL '1' DAY)`."""
        self.here += 1
        sign = self.take_any("-", "+") if self.peek() == STRING else None
        if self.at(STRING):
            value = text_of(self)
            return self._interval_of(value, negative=sign == "-")
        if self.at(NUMBER) and self.token.text.isdecimal():
            return self._interval_of(self.next().text, negative=False)
        start = self.here
        if not self.at("(", NAME) and not self.at_name():
            self.fail_expecting(
                "the length of the interval", hint="write for example INTERVAL '5' MINUTE"
            )
        factor = self._primary(start)
        at = self.here
        unit = self.located(self._interval_of("1", negative=False), at)
        return exp.Paren(this=self.located(exp.Mul(this=factor, expression=unit), start))

    def _interval_of(self, value: str, *, negative: bool) -> exp.Expression:
        if not self.at(*UNITS):
            self.fail_expecting(
                "the unit of the interval (SECOND, MINUTE, HOUR, DAY, MONTH, YEAR, ...)"
            )
        first, last, precision, fraction = self.interval_units()
        return nodes.IntervalLiteral(
            this=value,
            first=first,
            last=last,
            precision=precision,
            fraction=fraction,
            negative=negative or None,
        )

    # --- constructors, sub-queries, CASE -------------------------------------------------------

    def _parenthesis(self) -> exp.Expression:
        if self.starts_query(1):
            return self.subquery()
        self.here += 1
        inside = self.listed(self.expression)
        self.expect_close(")")
        if len(inside) == 1:
            return exp.Paren(this=inside[0])
        return nodes.RowConstructor(expressions=inside)

    def starts_query(self, ahead: int = 0) -> bool:
        """Does a query stand here, possibly in parentheses that only a query goes on behind?"""
        while self.peek(ahead) == "(" and ahead <= MAX_DEPTH:
            if self.behind_closing(self.here + ahead) not in QUERY_GOES_ON:
                return False
            ahead += 1
        return self.peek(ahead) in QUERY_STARTS

    def subquery(self) -> exp.Expression:
        """A query in parentheses."""
        start = self.here
        self.expect("(")
        query = self.query()
        self.expect(")")
        return self.located(exp.Subquery(this=query), start)

    def _exists(self) -> exp.Expression | None:
        if self.peek() != "(":
            return None
        self.here += 1
        found = self.subquery()
        return exp.Exists(this=found.this)

    def _row(self) -> exp.Expression | None:
        if self.peek() != "(":
            return None
        self.here += 2
        return nodes.RowConstructor(expressions=self.enclosed(self.expression))

    def _collection(self) -> exp.Expression | None:
        kinds: dict[str, type[exp.Expression]] = {
            "ARRAY": nodes.ArrayConstructor,
            "MAP": nodes.MapConstructor,
            "MULTISET": nodes.MultisetConstructor,
        }
        if self.peek() == "(" and self.peek(2) in QUERY_STARTS:
            self.refuse(f"{self.key} over a query", hint="use ARRAY_AGG or COLLECT")
        if self.peek() != "[":
            return None
        start, kind = self.here, self.next().text.upper()
        self.here += 1
        inside = [] if self.take("]") else self.enclosed(self.expression, "]")
        if kind == "MAP" and len(inside) % 2:
            self.fail("a MAP takes keys and values in turn", at=self.span_from(start))
        return kinds[kind](expressions=inside)

    def _case(self) -> exp.Expression:
        self.here += 1
        operand = None if self.at("WHEN") else self.expression()
        branches: list[exp.Expression] = []
        if not self.at("WHEN"):
            self.fail_expecting("`WHEN`")
        while self.at("WHEN"):
            branches += self._branches(simple=operand is not None)
        default = self.expression() if self.take("ELSE") else None
        self.expect("END", hint="CASE ends with END")
        return exp.Case(this=operand, ifs=branches, default=default)

    def _branches(self, *, simple: bool) -> list[exp.Expression]:
        """One WHEN ... THEN; a simple CASE may list several values for one result."""
        start = self.here
        self.here += 1
        conditions = self.listed(self.expression) if simple else [self.expression()]
        self.expect("THEN")
        result = self.expression()
        return [
            self.located(exp.If(this=condition, true=result if n == 0 else result.copy()), start)
            for n, condition in enumerate(conditions)
        ]

    def _cast(self) -> exp.Expression | None:
        if self.peek() != "(":
            return None
        node = exp.TryCast if self.next().text.upper() == "TRY_CAST" else exp.Cast
        self.expect("(")
        operand = self.expression()
        self.expect("AS")
        start = self.here
        target = self.located(nodes.TypeNode.of(self.cast_type()), start)
        self.expect(")")
        return node(this=operand, to=target)

    def _refused_word(self) -> NoReturn:
        self.refuse(*_REFUSED_WORDS[self.key])

    def _jdbc_escape(self) -> NoReturn:
        self.refuse("the JDBC escape `{...}`", hint="write the function or literal itself")

    _PRIMARIES: dict[str, Callable[[ExpressionParser], exp.Expression]] = {  # noqa: RUF012
        STRING: _text,
        NUMBER: _number,
        DOUBLE: _double_quoted,
        "(": _parenthesis,
        "{": _jdbc_escape,
        "CASE": _case,
        "NULL": _constant_word,
        "TRUE": _constant_word,
        "FALSE": _constant_word,
        "UNKNOWN": _constant_word,
    }

    # Words that begin something special when the right thing follows; else they are names.
    _SPECIAL_WORDS: dict[str, Callable[[ExpressionParser], exp.Expression | None]] = {  # noqa: RUF012
        "DATE": _typed_literal,
        "TIME": _typed_literal,
        "TIMESTAMP": _typed_literal,
        "INTERVAL": _interval,
        "EXISTS": _exists,
        "ROW": _row,
        "ARRAY": _collection,
        "MAP": _collection,
        "MULTISET": _collection,
        "CAST": _cast,
        "TRY_CAST": _cast,
        "UNIQUE": _refused_word,
        "SAFE_CAST": _refused_word,
        "CURSOR": _refused_word,
    }


_REFUSED_WORDS: dict[str, tuple[str, ...]] = {
    "UNIQUE": ("the predicate UNIQUE",),
    "SAFE_CAST": ("SAFE_CAST",),
    "CURSOR": ("CURSOR",),
}


def identifier(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=needs_quotes(name))


def column(parts: list[exp.Expression]) -> exp.Column:
    """A dotted name of one to four parts, the last of which may be a star."""
    keys = ("this", "table", "db", "catalog")
    return exp.Column(**dict(zip(keys, reversed(parts), strict=False)))


def _constant(word: str) -> exp.Expression:
    if word == "NULL":
        return exp.Null()
    if word == "UNKNOWN":
        return nodes.Unknown()
    return exp.Boolean(this=word == "TRUE")
