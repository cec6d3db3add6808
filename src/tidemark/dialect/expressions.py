"""Operands: names, literals, constructors, CASE, casts, subqueries."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import NoReturn

from sqlglot import exp

from tidemark.dialect import nodes, unsupported
from tidemark.dialect.cursor import DOUBLE, NAME, NUMBER, STRING
from tidemark.dialect.keywords import (
    CALLED_WITHOUT_PARENTHESES,
    NEVER_CALLED,
    RESERVED,
    needs_quotes,
)
from tidemark.dialect.literals import binary_of, string_of
from tidemark.dialect.operators import NOT, QUERY_STARTS, SIGN, OperatorParser, constant
from tidemark.dialect.types import UNITS


class ExpressionParser(OperatorParser):
    """Adds operands to operators."""

    @abstractmethod
    def call(self, start: int, names: list[str]) -> exp.Expression:
        """Parse the rest of a function call after its name, starting at the opening parenthesis."""

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
        if negative:
            return self.located(exp.Neg(this=operand), start)
        number = isinstance(operand, exp.Literal) and operand.is_number
        if number or isinstance(operand, nodes.IntervalLiteral):
            return operand
        return self.located(nodes.Plus(this=operand), start)

    def _fields(self, operand: exp.Expression, start: int) -> exp.Expression:
        """Field and element access on an operand: `.name` and `[index]`."""
        if self.at(".") and isinstance(operand, exp.Literal) and operand.is_number:
            self.fail("a number does not have fields")
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
            self.refuse(unsupported.STAR_AFTER)
        start = self.here
        return self.located(identifier(self.any_word("a field name")), start)

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

    def _string(self) -> exp.Expression:
        if self.token.text[0] in "xX":
            return exp.HexString(this=binary_of(self))
        return exp.Literal.string(string_of(self))

    def _number(self) -> exp.Expression:
        return exp.Literal(this=self.next().text, is_string=False)

    def _double_quoted(self) -> NoReturn:
        content = self.token.text[1:-1]
        self.fail(
            f"expected an expression, found the string {self.token.text}",
            hint=f"write '{content}' for a string, `{content}` for a name",
        )

    def _constant_word(self) -> exp.Expression:
        return constant(self.next().text.upper())

    def _typed_literal(self) -> exp.Expression | None:
        """`DATE '...'`, `TIME '...'`, `TIMESTAMP [WITH LOCAL TIME ZONE] '...'`."""
        kind, length = self.key, 1
        zone = ("WITH", "LOCAL", "TIME", "ZONE")
        if kind == "TIMESTAMP" and tuple(self.peek(n) for n in range(1, 5)) == zone:
            kind, length = "TIMESTAMP_LTZ", 5
        if self.peek(length) != STRING:
            return None
        self.here += length
        return nodes.TypedLiteral(this=string_of(self), kind=kind)

    def _interval(self) -> exp.Expression | None:
        """`INTERVAL '1' DAY`; `INTERVAL x DAY` is `(x * INTERVAL '1' DAY)`."""
        self.here += 1
        sign = self.take_any("-", "+") if self.peek() == STRING else None
        if self.at(STRING):
            value = string_of(self)
            return self._interval_of(value, negative=sign == "-")
        if self.at(NUMBER) and self.token.text.isdecimal():
            return self._interval_of(self.next().text, negative=False)
        start = self.here
        if not self.at("(", NAME) and not self.at_name():
            self.fail_expecting(
                "the length of an interval", hint="for example: INTERVAL '5' MINUTE"
            )
        factor = self._primary(start)
        if isinstance(factor, nodes.Difference):  # of two numbers: INTERVAL (a - b) DAY
            unit = factor.args["unit"]
            times = exp.Sub(this=factor.this, expression=factor.expression)
            factor = exp.Paren(this=self.located(times, start))
        else:
            at = self.here
            unit = self.located(self._interval_of("1", negative=False), at)
        return exp.Paren(this=self.located(exp.Mul(this=factor, expression=unit), start))

    def _interval_of(self, value: str, *, negative: bool) -> exp.Expression:
        if not self.at(*UNITS):
            self.fail_expecting(
                "an interval unit (SECOND, MINUTE, HOUR, DAY, MONTH, YEAR, ...)",
                hint=_interval_hint(value),
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

    # --- constructors, subqueries, CASE -------------------------------------------------------

    def _parenthesis(self) -> exp.Expression:
        if self.starts_query(1):
            return self.subquery()
        self.here += 1
        inside = self.listed(self.expression)
        self.expect_close(")")
        if len(inside) == 1:
            if isinstance(inside[0], exp.Sub) and self.at(*UNITS):
                return self._difference(inside[0])
            return exp.Paren(this=inside[0])
        return nodes.RowConstructor(expressions=inside)

    def _difference(self, times: exp.Sub) -> exp.Expression:
        at = self.here
        unit = self.located(self._interval_of("1", negative=False), at)
        return nodes.Difference(this=times.this, expression=times.expression, unit=unit)

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
            self.refuse(unsupported.COLLECTION_QUERY, self.key)
        if self.peek() != "[":
            return None
        start, kind = self.here, self.next().text.upper()
        self.here += 1
        inside = [] if self.take("]") else self.enclosed(self.expression, "]")
        if kind == "MAP" and len(inside) % 2:
            self.fail("a MAP needs a value for each key", at=self.span_from(start))
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
        self.expect("END", hint="CASE must end with END")
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
        self.refuse(unsupported.WORD, self.key)

    def _jdbc_escape(self) -> NoReturn:
        self.refuse(unsupported.JDBC_ESCAPE)

    _PRIMARIES: dict[str, Callable[[ExpressionParser], exp.Expression]] = {  # noqa: RUF012
        STRING: _string,
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

    # Words that are special only if the right token follows; otherwise they are names.
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


def _interval_hint(value: str) -> str | None:
    """For an interval as PostgreSQL writes it, with the unit inside of the quotes."""
    number, _, unit = value.partition(" ")
    return f"write INTERVAL '{number}' {unit.upper()}" if unit.upper() in UNITS else None


def identifier(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=needs_quotes(name))


def column(parts: list[exp.Expression]) -> exp.Column:
    """A dotted name of one to four parts, the last of which may be a star."""
    keys = ("this", "table", "db", "catalog")
    return exp.Column(**dict(zip(keys, reversed(parts), strict=False)))
