"""Function calls, including those with keywords among their arguments."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from tidemark.dialect import nodes, unsupported
from tidemark.dialect.cursor import NAME
from tidemark.dialect.expressions import identifier
from tidemark.dialect.json_calls import JsonParser
from tidemark.dialect.keywords import CALLED_WITHOUT_PARENTHESES
from tidemark.dialect.operators import QUERY_STARTS, RANGE
from tidemark.dialect.types import UNITS

_UNIT_WORDS = (
    *UNITS,
    *("MILLENNIUM", "CENTURY", "DECADE", "EPOCH", "DOW", "DOY", "ISODOW", "ISOYEAR"),
    *("MILLISECOND", "MICROSECOND", "NANOSECOND"),
)
# The names that ODBC has for units, in TIMESTAMPADD and TIMESTAMPDIFF.
_ODBC_UNITS = {
    f"SQL_TSI_{unit}": unit
    for unit in ("SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
}


class CallParser(JsonParser):
    """Adds calls to expressions."""

    def call(self, start: int, names: list[str]) -> exp.Expression:
        *qualifier, name = names
        special = None if qualifier else self._SPECIAL_CALLS.get(name.upper())
        if not self.at("("):
            found: exp.Expression = exp.Anonymous(this=name, expressions=[])
        elif special is not None:
            self.here += 1
            found = special(self, name)
            self.expect_close(")")
        else:
            found = self._ordinary(name, qualifier, start)
        return self._followed(self.located(found, start), start)

    def _ordinary(self, name: str, qualifier: list[str], start: int) -> exp.Expression:
        self.expect("(")
        arguments, order = self._arguments()
        self.expect_close(")")
        call: exp.Expression = exp.Anonymous(this=name, expressions=arguments)
        if not arguments and name.upper() in CALLED_WITHOUT_PARENTHESES:
            nodes.mark_parentheses(call)
        if qualifier:
            before = [identifier(part) for part in qualifier]
            call = nodes.QualifiedCall(this=name, qualifier=before, expressions=arguments)
        if order is None:
            return call
        return exp.WithinGroup(this=self.located(call, start), expression=order)

    def _arguments(self) -> tuple[list[exp.Expression], exp.Expression | None]:
        """The arguments up to the closing parenthesis, and an ORDER BY after them."""
        start = self.here
        if self.at(")"):
            return [], None
        distinct = self.take_any("DISTINCT", "ALL") == "DISTINCT"
        arguments = self.listed(lambda: self.argument(self.value_argument))
        if distinct:
            arguments = [self.located(exp.Distinct(expressions=arguments), start)]
        order = self.order_by() if self.at("ORDER") else None
        return arguments, order

    def argument(self, value: Callable[[], exp.Expression]) -> exp.Expression:
        """One argument, which may be named; `value` parses what follows the name."""
        start = self.here
        if self.take("*"):
            return self.located(exp.Star(), start)
        if self.peek() == "=>" and (self.key == NAME or self.at_word()):
            name = self.located(identifier(self.next().text), start)
            self.here += 1
            argument = nodes.NamedArgument(this=name, expression=value())
            return self.located(argument, start)
        return value()

    def value_argument(self) -> exp.Expression:
        """An expression or a DESCRIPTOR."""
        start = self.here
        if self.at("DEFAULT") and self.peek() in (")", ","):
            self.refuse(unsupported.DEFAULT_ARGUMENT)
        if self.sees("DESCRIPTOR", "("):
            self.here += 2
            columns = self.enclosed(self._identifier)
            return self.located(nodes.Descriptor(expressions=columns), start)
        if self.at(*QUERY_STARTS):
            self.fail(
                "only table functions take a table or query as an argument",
                hint="put a scalar subquery in parentheses of its own",
            )
        return self.expression()

    # --- calls with keywords -------------------------------------------------------------------

    def _symbol(self, *allowed: str) -> exp.Expression:
        start = self.here
        return self.located(nodes.Symbol(this=self.expect_any(*allowed)), start)

    def _unit(self, **names: str) -> exp.Expression:
        """`names`: other words for units."""
        start = self.here
        if not self.at(*_UNIT_WORDS, *names):
            self.fail_expecting("a time unit such as DAY or SECOND")
        word = self.next().text.upper()
        return self.located(nodes.Symbol(this=names.get(word, word)), start)

    def _anonymous(self, name: str, *arguments: exp.Expression | None) -> exp.Expression:
        given = [argument for argument in arguments if argument is not None]
        return exp.Anonymous(this=name, expressions=given)

    def _extract(self, name: str) -> exp.Expression:
        unit = self._unit()
        self.expect("FROM")
        return self._anonymous(name, unit, self.expression())

    def _trim(self, name: str) -> exp.Expression:
        start = self.here
        side = self.take_any("BOTH", "LEADING", "TRAILING")
        symbol = self.located(nodes.Symbol(this=side or "BOTH"), start)
        what: exp.Expression | None = None
        if side is None or not self.at("FROM"):
            what = self.expression()
        if what is not None and side is None and not self.at("FROM"):
            return self._anonymous(name, what)
        self.expect("FROM")
        return self._anonymous(name, symbol, what or exp.Literal.string(" "), self.expression())

    def _position(self, name: str) -> exp.Expression:
        # The operand binds tighter than IN; otherwise IN would be parsed as the predicate.
        what = self._operators(RANGE + 1)
        self.expect("IN")
        where = self.expression()
        begin = self.expression() if self.take("FROM") else None
        return self._anonymous(name, what, where, begin)

    def _substring(self, name: str) -> exp.Expression:
        text = self.expression()
        if not self.take("FROM"):
            self.expect(",")
            return self._anonymous(name, text, *self.listed(self.expression))
        begin = self.expression()
        length = self.expression() if self.take("FOR") else None
        return self._anonymous(name, text, begin, length)

    def _overlay(self, name: str) -> exp.Expression:
        text = self.expression()
        self.expect("PLACING")
        new = self.expression()
        self.expect("FROM")
        begin = self.expression()
        length = self.expression() if self.take("FOR") else None
        return self._anonymous(name, text, new, begin, length)

    def _round_to_unit(self, name: str) -> exp.Expression:
        operand = self.expression()
        unit = self._unit() if self.take("TO") else None
        return self._anonymous(name, operand, unit)

    def _unit_first(self, name: str) -> exp.Expression:
        unit = self._unit(**_ODBC_UNITS)
        self.expect(",")
        return self._anonymous(name, unit, *self.listed(self.expression))

    _SPECIAL_CALLS: dict[str, Callable[[CallParser, str], exp.Expression]] = {  # noqa: RUF012
        "EXTRACT": _extract,
        "TRIM": _trim,
        "POSITION": _position,
        "SUBSTRING": _substring,
        "OVERLAY": _overlay,
        "CEIL": _round_to_unit,
        "CEILING": _round_to_unit,
        "FLOOR": _round_to_unit,
        "TIMESTAMPADD": _unit_first,
        "TIMESTAMPDIFF": _unit_first,
        "JSON_VALUE": JsonParser._json_path,
        "JSON_QUERY": JsonParser._json_path,
        "JSON_EXISTS": JsonParser._json_path,
        "JSON_OBJECT": JsonParser._json_object,
        "JSON_OBJECTAGG": JsonParser._json_object,
        "JSON_ARRAY": JsonParser._json_array,
        "JSON_ARRAYAGG": JsonParser._json_array,
    }
