"""Prints calls, what follows them, and their arguments as Flink SQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from sqlglot import exp

from tidemark.dialect import nodes
from tidemark.dialect.keywords import (
    CALLED_WITHOUT_PARENTHESES,
    NEVER_CALLED,
    is_plain,
    quoted_if_needed,
)
from tidemark.dialect.operators import NOT, RANGE
from tidemark.dialect.print_expressions import ExpressionPrinter, is_json_test


class CallPrinter(ExpressionPrinter):
    """Adds calls to expressions."""

    def _call(self, node: exp.Expression) -> str:
        if is_json_test(node):
            return self._predicate(node, "")
        name, arguments = node.this, node.expressions
        if not arguments and name.upper() in CALLED_WITHOUT_PARENTHESES:
            return f"{name}()" if nodes.has_parentheses(node) else str(name)
        special = _SPECIAL_CALLS.get(name.upper())
        if special is not None and (inside := special(self, arguments)) is not None:
            return f"{name}({inside})"
        return f"{_call_name(name)}({self.listed(arguments)})"

    def _qualified_call(self, node: exp.Expression) -> str:
        before = ".".join(self.print(part) for part in node.args["qualifier"])
        return f"{before}.{quoted_if_needed(node.this)}({self.listed(node.expressions)})"

    def _distinct(self, node: exp.Expression) -> str:
        return f"DISTINCT {self.listed(node.expressions)}"

    def _nulls(self, node: exp.Expression) -> str:
        word = "IGNORE" if isinstance(node, exp.IgnoreNulls) else "RESPECT"
        return f"{self.print(node.this)} {word} NULLS"

    def _within_group(self, node: exp.Expression) -> str:
        return f"{self.print(node.this)} WITHIN GROUP ({self.print(node.expression)})"

    def _filter(self, node: exp.Expression) -> str:
        return f"{self.print(node.this)} FILTER (WHERE {self.print(node.expression.this)})"

    def _window(self, node: exp.Expression) -> str:
        definition = self._window_definition(node)
        alias = node.args.get("alias")
        if alias is not None and definition == self.print(alias):
            return f"{self.print(node.this)} OVER {definition}"
        return f"{self.print(node.this)} OVER ({definition})"

    def _window_definition(self, node: exp.Expression) -> str:
        parts = [self.print(node.args["alias"])] if node.args.get("alias") is not None else []
        if node.args.get("partition_by"):
            parts.append(f"PARTITION BY {self.listed(node.args['partition_by'])}")
        parts += [self.print(node.args[key]) for key in ("order", "spec") if node.args.get(key)]
        return " ".join(parts)

    def _frame(self, node: exp.Expression) -> str:
        start = self._bound(node.args["start"], node.args.get("start_side"))
        end = self._bound(node.args["end"], node.args.get("end_side"))
        return f"{node.args['kind']} BETWEEN {start} AND {end}"

    def _bound(self, value: str | exp.Expression, side: str | None) -> str:
        text = value if isinstance(value, str) else self.print(value, NOT)
        return text if side is None else f"{text} {side}"

    def _json_call(self, node: exp.Expression) -> str:
        args = node.args
        parts = [self._json_arguments(node)]
        parts += [self.print(args["order"])] if args.get("order") else []
        parts += [f"RETURNING {self.print(args['returning'])}"] if args.get("returning") else []
        parts += [f"{args['wrapper']} WRAPPER"] if args.get("wrapper") else []
        parts += [f"{args['on_null']} ON NULL"] if args.get("on_null") else []
        for key, words in (("on_empty", "ON EMPTY"), ("on_error", "ON ERROR")):
            if args.get(key):
                parts.append(f"{self.print(args[key])} {words}")
        return f"{node.this}({' '.join(part for part in parts if part)})"

    def _json_arguments(self, node: exp.Expression) -> str:
        if not node.this.startswith("JSON_OBJECT"):
            return self.listed(node.expressions)
        found = [self.print(argument) for argument in node.expressions]
        pairs = zip(found[::2], found[1::2], strict=True)
        return ", ".join(f"KEY {key} VALUE {value}" for key, value in pairs)

    def _json_behavior(self, node: exp.Expression) -> str:
        value = "" if node.this is None else f" {self.print(node.this)}"
        return f"{node.args['kind']}{value}"

    def _named_argument(self, node: exp.Expression) -> str:
        return f"{self.print(node.this)} => {self.print(node.expression)}"

    def _descriptor(self, node: exp.Expression) -> str:
        return f"DESCRIPTOR({self.listed(node.expressions)})"

    def _table_argument(self, node: exp.Expression) -> str:
        inside = node.this
        table = self.print(inside)
        if isinstance(inside, exp.Table):
            table = f"TABLE {table}"
        elif isinstance(inside, nodes.TableFunction):
            table = f"TABLE({self.function(inside)})"
        partition, order = node.args.get("partition_by"), node.args.get("order")
        if partition:
            table += f" PARTITION BY {self._enclosed_unless_simple(partition)}"
        if order:
            table += f" ORDER BY {self._enclosed_unless_simple(order.expressions)}"
        return table

    def function(self, node: exp.Expression) -> str:
        """The call inside a table function."""
        before = [self.print(part) for part in node.args.get("qualifier") or []]
        name = ".".join([*before, quoted_if_needed(node.this)])
        return f"{name}({self.listed(node.expressions)})"

    def _enclosed_unless_simple(self, items: list[exp.Expression]) -> str:
        first = items[0].this if isinstance(items[0], exp.Ordered) else items[0]
        simple = len(items) == 1 and isinstance(first, exp.Column)
        text = self.listed(items)
        return text if simple else f"({text})"

    _PRINTERS: ClassVar[dict[type[exp.Expression], Callable[[Any, Any], str]]] = {
        **ExpressionPrinter._PRINTERS,
        exp.Anonymous: _call,
        nodes.QualifiedCall: _qualified_call,
        nodes.JsonCall: _json_call,
        nodes.JsonBehavior: _json_behavior,
        exp.Distinct: _distinct,
        exp.IgnoreNulls: _nulls,
        exp.RespectNulls: _nulls,
        exp.WithinGroup: _within_group,
        exp.Filter: _filter,
        exp.Window: _window,
        exp.WindowSpec: _frame,
        nodes.NamedArgument: _named_argument,
        nodes.Descriptor: _descriptor,
        nodes.DefaultArgument: lambda self, node: "DEFAULT",
        nodes.TableArgument: _table_argument,
    }


# --- calls with keywords -----------------------------------------------------------------------


def _extract(printer: ExpressionPrinter, args: list[exp.Expression]) -> str | None:
    unit, operand = args
    return f"{printer.print(unit)} FROM {printer.print(operand)}"


def _trim(printer: ExpressionPrinter, args: list[exp.Expression]) -> str | None:
    if not isinstance(args[0], nodes.Symbol):
        return None
    side, what, operand = (printer.print(arg) for arg in args)
    return f"{side} {what} FROM {operand}"


def _position(printer: ExpressionPrinter, args: list[exp.Expression]) -> str | None:
    what, where = printer.print(args[0], RANGE + 1), printer.print(args[1])
    start = "".join(f" FROM {printer.print(arg)}" for arg in args[2:])
    return f"{what} IN {where}{start}"


def _overlay(printer: ExpressionPrinter, args: list[exp.Expression]) -> str | None:
    text, new, start = (printer.print(arg) for arg in args[:3])
    length = "".join(f" FOR {printer.print(arg)}" for arg in args[3:])
    return f"{text} PLACING {new} FROM {start}{length}"


def _round(printer: ExpressionPrinter, args: list[exp.Expression]) -> str | None:
    if not isinstance(args[-1], nodes.Symbol):
        return None
    return f"{printer.print(args[0])} TO {printer.print(args[1])}"


_SPECIAL_CALLS: dict[str, Callable[[ExpressionPrinter, list[exp.Expression]], str | None]] = {
    "EXTRACT": _extract,
    "TRIM": _trim,
    "POSITION": _position,
    "OVERLAY": _overlay,
    "CEIL": _round,
    "CEILING": _round,
    "FLOOR": _round,
}


def _call_name(name: str) -> str:
    """Any plain word can be called, except those that start a different construct."""
    if is_plain(name) and name.upper() not in NEVER_CALLED:
        return name
    return "`" + name.replace("`", "``") + "`"
