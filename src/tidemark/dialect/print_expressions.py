"""Prints scalar expressions as Flink SQL: layout, operators, names, literals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from sqlglot import exp

from tidemark.dialect import nodes
from tidemark.dialect.keywords import quoted_if_needed
from tidemark.dialect.literals import quoted_string
from tidemark.dialect.operators import BINARY, COMPARISON, IS, NOT, OR, RANGE, SIGN

LINE_WIDTH = 88

_SYMBOLS = {node: (symbol, tightness) for symbol, (tightness, node) in BINARY.items()}
_SYMBOLS |= {
    exp.NullSafeEQ: ("IS NOT DISTINCT FROM", COMPARISON),
    exp.NullSafeNEQ: ("IS DISTINCT FROM", COMPARISON),
    exp.Overlaps: ("OVERLAPS", COMPARISON),
}

# The predicates that contain their own NOT, and their precedence.
_NEGATABLE: dict[type[exp.Expression], int] = {
    exp.In: RANGE,
    exp.Between: RANGE,
    exp.Like: RANGE,
    exp.SimilarTo: RANGE,
    exp.Escape: RANGE,
    exp.Is: IS,
}


class ExpressionPrinter:
    """Prints trees; with `pretty`, each clause of a query is on a line of its own.

    Nested lines are indented while printing, never afterwards: a string may contain line breaks.
    """

    def __init__(self, *, pretty: bool) -> None:
        self.pretty = pretty
        self.level = 0

    def print(self, node: exp.Expression, least: int = OR) -> str:
        """A node's SQL where operators looser than `least` need parentheses."""
        if isinstance(node, exp.Not):
            return self._not(node, least)
        if type(node) in _SYMBOLS:
            return self._binary(node)
        return self._PRINTERS[type(node)](self, node)

    def listed(self, items: Iterable[exp.Expression]) -> str:
        return ", ".join(self.print(item) for item in items)

    # --- layout --------------------------------------------------------------------------------

    @property
    def line(self) -> str:
        """A line break, or a space if everything is on one line."""
        return "\n" + "  " * self.level if self.pretty else " "

    def block(self, write: Callable[[], str]) -> str:
        """SQL in parentheses, on lines of its own."""
        if not self.pretty:
            return f"({write()})"
        self.level += 1
        inside = self.line + write()
        self.level -= 1
        return f"({inside}{self.line})"

    def _spread(self, head: str, items: Sequence[exp.Expression]) -> str:
        """`head a, b, c`, one item per line if they are too long for one."""
        flat = f"{head} {self.listed(items)}"
        if not self.pretty or ("\n" not in flat and len(flat) + 2 * self.level <= LINE_WIDTH):
            return flat
        self.level += 1
        lines = [self.line + self.print(item) for item in items]
        self.level -= 1
        return head + ",".join(lines)

    # --- operators -----------------------------------------------------------------------------

    def _binary(self, node: exp.Expression) -> str:
        """Walk down the left side in a loop: chains may be long."""
        parts: list[str] = []
        while type(node) in _SYMBOLS:
            symbol, tightness = _SYMBOLS[type(node)]
            parts.append(f"{symbol} {self.print(node.expression, tightness + 1)}")
            node = node.this
        return " ".join([self.print(node, NOT if len(parts) else OR), *reversed(parts)])

    def _not(self, node: exp.Expression, least: int) -> str:
        inside = node.this
        tightness = IS if is_json_test(inside) else _NEGATABLE.get(type(inside), 0)
        if tightness < least or tightness == 0:
            return f"NOT {self.print(inside, NOT)}"
        return self._predicate(inside, "NOT ")

    def _plain_predicate(self, node: exp.Expression) -> str:
        return self._predicate(node, "")

    def _predicate(self, node: exp.Expression, negation: str) -> str:
        if isinstance(node, exp.Escape):
            escape = self.print(node.expression, RANGE + 1)
            return f"{self._predicate(node.this, negation)} ESCAPE {escape}"
        if isinstance(node, exp.Anonymous):
            operand = self.print(node.expressions[0], IS)
            return f"{operand} IS {negation}{node.this.removeprefix('IS ')}"
        operand = self.print(node.this, IS)
        if isinstance(node, exp.Is):
            return f"{operand} IS {negation}{self.print(node.expression)}"
        if isinstance(node, exp.In):
            return f"{operand} {negation}IN {self._in_list(node)}"
        if isinstance(node, exp.Between):
            return f"{operand} {negation}BETWEEN {self._bounds(node)}"
        word = "LIKE" if isinstance(node, exp.Like) else "SIMILAR TO"
        return f"{operand} {negation}{word} {self.print(node.expression, RANGE)}"

    def _in_list(self, node: exp.Expression) -> str:
        query = node.args.get("query")
        return f"({self.listed(node.expressions)})" if query is None else self.print(query)

    def _bounds(self, node: exp.Expression) -> str:
        symmetric = "SYMMETRIC " if node.args.get("symmetric") else ""
        low = self.print(node.args["low"], NOT)
        return f"{symmetric}{low} AND {self.print(node.args['high'], RANGE + 1)}"

    def _negative(self, node: exp.Expression) -> str:
        operand = self.print(node.this, SIGN)
        return f"- {operand}" if operand.startswith("-") else f"-{operand}"

    def _plus(self, node: exp.Expression) -> str:
        operand = self.print(node.this, SIGN)
        return f"+ {operand}" if operand.startswith("+") else f"+{operand}"

    def _period(self, node: exp.Expression) -> str:
        left, right = self.print(node.this), self.print(node.expression, COMPARISON + 1)
        return f"{left} {node.args['kind']} {right}"

    def _quantified(self, node: exp.Expression) -> str:
        word = "ALL" if isinstance(node, exp.All) else "ANY"
        return f"{word} {self.print(node.this)}"

    # --- names, literals, constructors ---------------------------------------------------------

    def _identifier(self, node: exp.Expression) -> str:
        return quoted_if_needed(node.this)

    def _dotted(self, node: exp.Expression) -> str:
        parts = [node.args.get(key) for key in ("catalog", "db", "table", "this")]
        return ".".join(self.print(part) for part in parts if part is not None)

    def _field(self, node: exp.Expression) -> str:
        return f"{self.print(node.this, SIGN)}.{self.print(node.expression)}"

    def _element(self, node: exp.Expression) -> str:
        return f"{self.print(node.this, SIGN)}[{self.listed(node.expressions)}]"

    def _literal(self, node: exp.Expression) -> str:
        return quoted_string(node.this) if node.is_string else str(node.this)

    def _typed_literal(self, node: exp.Expression) -> str:
        kind = node.args["kind"]
        spelled = "TIMESTAMP WITH LOCAL TIME ZONE" if kind == "TIMESTAMP_LTZ" else kind
        return f"{spelled} {quoted_string(node.this)}"

    def _interval(self, node: exp.Expression) -> str:
        return "INTERVAL " + self.duration(node)

    def duration(self, node: exp.Expression) -> str:
        """`'5' MINUTE`: an interval without the word."""
        sign = "-" if node.args.get("negative") else ""
        return f"{sign}{quoted_string(node.this)} {_units(node)}"

    def _difference(self, node: exp.Expression) -> str:
        times = exp.Sub(this=node.this, expression=node.expression)
        return f"({self.print(times)}) {_units(node.args['unit'])}"

    def _row(self, node: exp.Expression) -> str:
        return f"ROW({self.listed(node.expressions)})"

    def _tuple(self, node: exp.Expression) -> str:
        return f"({self.listed(node.expressions)})"

    def _collection(self, node: exp.Expression) -> str:
        words = {nodes.ArrayConstructor: "ARRAY", nodes.MapConstructor: "MAP"}
        return f"{words.get(type(node), 'MULTISET')}[{self.listed(node.expressions)}]"

    def _case(self, node: exp.Expression) -> str:
        parts = ["CASE"]
        if node.this is not None:
            parts.append(self.print(node.this))
        for branch in node.args["ifs"]:
            result = self.print(branch.args["true"])
            parts.append(f"WHEN {self.print(branch.this)} THEN {result}")
        if node.args.get("default") is not None:
            parts.append(f"ELSE {self.print(node.args['default'])}")
        return " ".join([*parts, "END"])

    def _cast(self, node: exp.Expression) -> str:
        word = "TRY_CAST" if isinstance(node, exp.TryCast) else "CAST"
        return f"{word}({self.print(node.this)} AS {self.print(node.args['to'])})"

    _PRINTERS: ClassVar[dict[type[exp.Expression], Callable[[Any, Any], str]]] = {
        exp.Identifier: _identifier,
        exp.Column: _dotted,
        exp.Dot: _field,
        exp.Bracket: _element,
        exp.Star: lambda self, node: "*",
        exp.Literal: _literal,
        exp.HexString: lambda self, node: f"X'{node.this}'",
        exp.Null: lambda self, node: "NULL",
        exp.Boolean: lambda self, node: "TRUE" if node.this else "FALSE",
        nodes.Unknown: lambda self, node: "UNKNOWN",
        nodes.Symbol: lambda self, node: node.this,
        nodes.TypeNode: lambda self, node: str(node.data_type),
        nodes.TypedLiteral: _typed_literal,
        nodes.IntervalLiteral: _interval,
        nodes.Difference: _difference,
        nodes.RowConstructor: _row,
        nodes.ArrayConstructor: _collection,
        nodes.MapConstructor: _collection,
        nodes.MultisetConstructor: _collection,
        exp.Tuple: _tuple,
        exp.Paren: lambda self, node: f"({self.print(node.this)})",
        exp.Neg: _negative,
        nodes.Plus: _plus,
        exp.In: _plain_predicate,
        exp.Between: _plain_predicate,
        exp.Like: _plain_predicate,
        exp.SimilarTo: _plain_predicate,
        exp.Escape: _plain_predicate,
        exp.Is: _plain_predicate,
        exp.Exists: lambda self, node: "EXISTS " + self.block(lambda: self.print(node.this)),
        exp.Any: _quantified,
        exp.All: _quantified,
        nodes.PeriodPredicate: _period,
        exp.Case: _case,
        exp.Cast: _cast,
        exp.TryCast: _cast,
    }


def is_json_test(node: exp.Expression) -> bool:
    """Whether this is `x IS JSON ...`, which is represented as a call."""
    return isinstance(node, exp.Anonymous) and node.this.startswith("IS JSON")


def _units(node: exp.Expression) -> str:
    """`DAY(2) TO SECOND(3)`"""
    first, last = node.args["first"], node.args.get("last")
    precision, fraction = node.args.get("precision"), node.args.get("fraction")
    inside = [str(precision)] if precision is not None else []
    if last is None and fraction is not None:
        inside.append(str(fraction))
    text = str(first) + (f"({', '.join(inside)})" if inside else "")
    if last is not None:
        text += f" TO {last}" + (f"({fraction})" if fraction is not None else "")
    return text
