"""The JSON functions of the SQL standard, with their clauses."""

from __future__ import annotations

from sqlglot import exp

from tidemark.dialect import nodes
from tidemark.dialect.over import OverParser


class JsonParser(OverParser):
    """Adds the arguments of JSON functions, up to the closing parenthesis."""

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
            self.fail(f"{case.replace('_', ' ').upper()} is given twice", at=self.span_from(start))
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
