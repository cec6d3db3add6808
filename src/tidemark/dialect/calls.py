"""Function calls, those with keywords among their arguments, and what may follow a call."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from tidemark.dialect import nodes
from tidemark.dialect.cursor import NAME
from tidemark.dialect.expressions import QUERY_STARTS, RANGE, ExpressionParser, identifier
from tidemark.dialect.types import UNITS

_UNIT_WORDS = (
    *UNITS,
    *("MILLENNIUM", "CENTURY", "DECADE", "EPOCH", "DOW", "DOY", "ISODOW", "ISOYEAR"),
    *("MILLISECOND", "MICROSECOND", "NANOSECOND"),
    *("SQL_TSI_SECOND", "SQL_TSI_MINUTE", "SQL_TSI_HOUR", "SQL_TSI_DAY", "SQL_TSI_WEEK"),
    *("SQL_TSI_MONTH", "SQL_TSI_QUARTER", "SQL_TSI_YEAR"),
)


class CallParser(ExpressionParser):
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
        if qualifier:
            before = [identifier(part) for part in qualifier]
            call = nodes.QualifiedCall(this=name, qualifier=before, expressions=arguments)
        if order is None:
            return call
        return exp.WithinGroup(this=self.located(call, start), expression=order)

    def _arguments(self) -> tuple[list[exp.Expression], exp.Expression | None]:
        """The arguments up to the closing parenthesis, and an ORDER BY behind them."""
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
        """One argument, perhaps with its name; `value` reads what stands behind the name."""
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
            self.refuse("the argument DEFAULT", hint="leave the argument out")
        if self.sees("DESCRIPTOR", "("):
            self.here += 2
            columns = self.enclosed(self._identifier)
            return self.located(nodes.Descriptor(expressions=columns), start)
        if self.at(*QUERY_STARTS):
            self.fail(
                "a table or query is an argument of table functions only",
                hint="a scalar sub-query stands in parentheses of its own",
            )
        return self.expression()

    def _identifier(self) -> exp.Expression:
        start = self.here
        return self.located(identifier(self.name("the name of a column")), start)

    # --- what follows a call -------------------------------------------------------------------

    def _followed(self, call: exp.Expression, start: int) -> exp.Expression:
        """IGNORE NULLS, WITHIN GROUP, FILTER and OVER behind a call."""
        for word, node in (("IGNORE", exp.IgnoreNulls), ("RESPECT", exp.RespectNulls)):
            if self.take(word, "NULLS"):
                call = self.located(node(this=call), start)
        if self.take("WITHIN", "GROUP"):
            self.expect("(")
            order = self.order_by()
            self.expect(")")
            call = self.located(exp.WithinGroup(this=call, expression=order), start)
        if self.sees("FILTER", "("):
            call = self.located(self._filter(call), start)
        if self.at("OVER"):
            call = self.located(self._over(call), start)
        return call

    def _filter(self, call: exp.Expression) -> exp.Expression:
        self.expect("FILTER", "(")
        start = self.here
        self.expect("WHERE")
        where = self.located(exp.Where(this=self.expression()), start)
        self.expect(")")
        return exp.Filter(this=call, expression=where)

    def _over(self, call: exp.Expression) -> exp.Expression:
        self.expect("OVER")
        if not self.at("("):
            return exp.Window(this=call, alias=self._identifier())
        return self.window_definition(call)

    def window_definition(self, this: exp.Expression) -> exp.Expression:
        """`([name] [PARTITION BY ...] [ORDER BY ...] [ROWS|RANGE ...])`"""
        self.expect("(")
        window = exp.Window(this=this)
        if self.at_name():
            window.set("alias", self._identifier())
        window.set("partition_by", self.partition_by())
        if self.at("ORDER"):
            window.set("order", self.order_by())
        if self.at("ROWS", "RANGE"):
            window.set("spec", self._frame())
        elif self.at("GROUPS"):
            self.refuse("a frame of GROUPS")
        if not self.take(")"):
            self.fail_expecting("`PARTITION BY`, `ORDER BY`, `ROWS`, `RANGE` or `)`")
        return window

    def partition_by(self) -> list[exp.Expression]:
        if not self.take("PARTITION"):
            return []
        self.expect("BY")
        return self.listed(self.expression)

    def order_by(self) -> exp.Expression:
        start = self.here
        self.expect("ORDER", "BY")
        return self.located(exp.Order(expressions=self.listed(self._ordered)), start)

    def _ordered(self) -> exp.Expression:
        start = self.here
        this = self.expression()
        descending = self.take_any("ASC", "DESC") == "DESC"
        nulls = self.expect_any("FIRST", "LAST") if self.take("NULLS") else None
        first = None if nulls is None else nulls == "FIRST"
        return self.located(exp.Ordered(this=this, desc=descending, nulls_first=first), start)

    def _frame(self) -> exp.Expression:
        start, kind = self.here, self.next().text.upper()
        if self.take("BETWEEN"):
            first, first_side = self._bound()
            self.expect("AND")
            last, last_side = self._bound()
        else:
            first, first_side = self._bound()
            last, last_side = "CURRENT ROW", None
        frame = exp.WindowSpec(
            kind=kind, start=first, start_side=first_side, end=last, end_side=last_side
        )
        if self.at("EXCLUDE"):
            self.refuse("EXCLUDE in a frame")
        return self.located(frame, start)

    def _bound(self) -> tuple[str | exp.Expression, str | None]:
        if self.take("CURRENT", "ROW"):
            return "CURRENT ROW", None
        bound = "UNBOUNDED" if self.take("UNBOUNDED") else self.expression()
        return bound, self.expect_any("PRECEDING", "FOLLOWING")

    # --- calls with keywords -------------------------------------------------------------------

    def _symbol(self, *allowed: str) -> exp.Expression:
        start = self.here
        return self.located(nodes.Symbol(this=self.expect_any(*allowed)), start)

    def _unit(self) -> exp.Expression:
        start = self.here
        if not self.at(*_UNIT_WORDS):
            self.fail_expecting("a unit of time such as DAY or SECOND")
        return self.located(nodes.Symbol(this=self.next().text.upper()), start)

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
        # The operand binds tighter than IN, which would be read as the predicate otherwise.
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
        unit = self._unit()
        self.expect(",")
        return self._anonymous(name, unit, *self.listed(self.expression))

    # --- JSON ----------------------------------------------------------------------------------

    def _json_path(self, name: str) -> exp.Expression:
        """JSON_VALUE, JSON_QUERY and JSON_EXISTS: input, path and clauses."""
        call = nodes.JsonCall(this=name.upper())
        call.set("expressions", [self.expression()])
        self.expect(",")
        call.append("expressions", self.expression())
        self._returning(call)
        if name.upper() == "JSON_QUERY":
            self._wrapper(call)
        while self.at("NULL", "ERROR", "TRUE", "FALSE", "UNKNOWN", "EMPTY", "DEFAULT"):
            self._behavior(call)
        return call

    def _returning(self, call: exp.Expression) -> None:
        if self.take("RETURNING"):
            start = self.here
            call.set("returning", self.located(nodes.TypeNode.of(self.cast_type()), start))

    def _wrapper(self, call: exp.Expression) -> None:
        if self.take("WITHOUT"):
            self.take("ARRAY")
            self.expect("WRAPPER")
            call.set("wrapper", "WITHOUT ARRAY")
        elif self.take("WITH"):
            kind = self.take_any("CONDITIONAL", "UNCONDITIONAL") or "UNCONDITIONAL"
            self.take("ARRAY")
            self.expect("WRAPPER")
            call.set("wrapper", f"WITH {kind} ARRAY")

    def _behavior(self, call: exp.Expression) -> None:
        """`NULL ON EMPTY`, `DEFAULT x ON ERROR`, ..."""
        start, value = self.here, None
        kind = self.next().text.upper()
        if kind == "EMPTY":
            kind = f"EMPTY {self.expect_any('ARRAY', 'OBJECT')}"
        elif kind == "DEFAULT":
            value = self.expression()
        behavior = self.located(nodes.JsonBehavior(this=value, kind=kind), start)
        self.expect("ON")
        case = "on_" + self.expect_any("EMPTY", "ERROR").lower()
        if call.args.get(case) is not None:
            self.fail(
                f"there are two clauses {case.replace('_', ' ').upper()}", at=self.span_from(start)
            )
        call.set(case, behavior)

    def _json_object(self, name: str) -> exp.Expression:
        pairs: list[exp.Expression] = []
        if not self.at(")", "NULL", "ABSENT"):
            for pair in self.listed(self._json_pair):
                pairs += pair
        call = nodes.JsonCall(this=name.upper(), expressions=pairs)
        self._on_null(call)
        return call

    def _json_pair(self) -> list[exp.Expression]:
        """`[KEY] name VALUE value` or `name : value`"""
        if self.at("KEY") and self.peek() not in ("VALUE", ":", "."):
            self.here += 1
        key = self.expression()
        self.expect_any("VALUE", ":")
        return [key, self.expression()]

    def _json_array(self, name: str) -> exp.Expression:
        elements: list[exp.Expression] = []
        if not self.at(")", "ABSENT") and not self.sees("NULL", "ON"):
            elements = self.listed(self.expression)
        call = nodes.JsonCall(this=name.upper(), expressions=elements)
        if self.at("ORDER"):
            call.set("order", self.order_by())
        self._on_null(call)
        return call

    def _on_null(self, call: exp.Expression) -> None:
        if self.at("NULL", "ABSENT"):
            call.set("on_null", self.next().text.upper())
            self.expect("ON", "NULL")

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
        "JSON_VALUE": _json_path,
        "JSON_QUERY": _json_path,
        "JSON_EXISTS": _json_path,
        "JSON_OBJECT": _json_object,
        "JSON_OBJECTAGG": _json_object,
        "JSON_ARRAY": _json_array,
        "JSON_ARRAYAGG": _json_array,
    }
