"""What can follow a call: null treatment, WITHIN GROUP, FILTER, OVER and its windows."""

from __future__ import annotations

from sqlglot import exp

from tidemark.dialect import unsupported
from tidemark.dialect.expressions import ExpressionParser, identifier


class OverParser(ExpressionParser):
    """Adds windows, ordering and the suffixes of calls."""

    def _identifier(self) -> exp.Expression:
        start = self.here
        return self.located(identifier(self.name("a column name")), start)

    def _followed(self, call: exp.Expression, start: int) -> exp.Expression:
        """IGNORE NULLS, WITHIN GROUP, FILTER and OVER after a call."""
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
            self.refuse(unsupported.GROUPS_FRAME)
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
            self.refuse(unsupported.EXCLUDE_FRAME)
        return self.located(frame, start)

    def _bound(self) -> tuple[str | exp.Expression, str | None]:
        if self.take("CURRENT", "ROW"):
            return "CURRENT ROW", None
        bound = "UNBOUNDED" if self.take("UNBOUNDED") else self.expression()
        return bound, self.expect_any("PRECEDING", "FOLLOWING")
