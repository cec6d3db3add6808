"""Expression and query trees to Flink SQL text that reads back to the same tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlglot import exp

from tidemark.dialect import nodes
from tidemark.dialect.expressions import (
    BINARY,
    COMPARISON,
    IS,
    NOT,
    OR,
    RANGE,
    SIGN,
)
from tidemark.dialect.keywords import (
    CALLED_WITHOUT_PARENTHESES,
    NEVER_CALLED,
    is_plain,
    quoted_if_needed,
)
from tidemark.dialect.literals import quoted_text

LINE_WIDTH = 88

_SYMBOLS = {node: (symbol, tightness) for symbol, (tightness, node) in BINARY.items()}
_SYMBOLS |= {
    exp.NullSafeEQ: ("IS NOT DISTINCT FROM", COMPARISON),
    exp.NullSafeNEQ: ("IS DISTINCT FROM", COMPARISON),
    exp.Overlaps: ("OVERLAPS", COMPARISON),
}

# The predicates whose NOT stands inside them, and how tightly they bind.
_NEGATABLE: dict[type[exp.Expression], int] = {
    exp.In: RANGE,
    exp.Between: RANGE,
    exp.Like: RANGE,
    exp.SimilarTo: RANGE,
    exp.Escape: RANGE,
    exp.Is: IS,
}


class TreePrinter:
    """Prints trees; `pretty` gives each clause of a query a line of its own.

    Nested lines are indented while printing and never afterwards: a text may hold line breaks.
    """

    def __init__(self, *, pretty: bool) -> None:
        self.pretty = pretty
        self.level = 0

    def print(self, node: exp.Expression, least: int = OR) -> str:
        """The text of a node that stands where operators looser than `least` would end it."""
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
        """A line break, or a space when everything goes on one line."""
        return "\n" + "  " * self.level if self.pretty else " "

    def block(self, write: Callable[[], str]) -> str:
        """Text in parentheses on lines of its own."""
        if not self.pretty:
            return f"({write()})"
        self.level += 1
        inside = self.line + write()
        self.level -= 1
        return f"({inside}{self.line})"

    def _spread(self, head: str, items: Sequence[exp.Expression]) -> str:
        """`head a, b, c`, one to a line if they are too long for one."""
        flat = f"{head} {self.listed(items)}"
        if not self.pretty or ("\n" not in flat and len(flat) + 2 * self.level <= LINE_WIDTH):
            return flat
        self.level += 1
        lines = [self.line + self.print(item) for item in items]
        self.level -= 1
        return head + ",".join(lines)

    # --- operators -----------------------------------------------------------------------------

    def _binary(self, node: exp.Expression) -> str:
        """Walks down the left side in a loop: chains may be long."""
        parts: list[str] = []
        while type(node) in _SYMBOLS:
            symbol, tightness = _SYMBOLS[type(node)]
            parts.append(f"{symbol} {self.print(node.expression, tightness + 1)}")
            node = node.this
        return " ".join([self.print(node, NOT if len(parts) else OR), *reversed(parts)])

    def _not(self, node: exp.Expression, least: int) -> str:
        inside = node.this
        tightness = IS if _is_json(inside) else _NEGATABLE.get(type(inside), 0)
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
        return quoted_text(node.this) if node.is_string else str(node.this)

    def _typed_literal(self, node: exp.Expression) -> str:
        kind = node.args["kind"]
        spelled = "TIMESTAMP WITH LOCAL TIME ZONE" if kind == "TIMESTAMP_LTZ" else kind
        return f"{spelled} {quoted_text(node.this)}"

    def _interval(self, node: exp.Expression) -> str:
        return "INTERVAL " + self.duration(node)

    def duration(self, node: exp.Expression) -> str:
        """`'5' MINUTE`: an interval without the word."""
        sign = "-" if node.args.get("negative") else ""
        return f"{sign}{quoted_text(node.this)} {_units(node)}"

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

    # --- calls ---------------------------------------------------------------------------------

    def _call(self, node: exp.Expression) -> str:
        if _is_json(node):
            return self._predicate(node, "")
        name, arguments = node.this, node.expressions
        if not arguments and name.upper() in CALLED_WITHOUT_PARENTHESES:
            return str(name)
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
            table = f"TABLE({self._function(inside)})"
        partition, order = node.args.get("partition_by"), node.args.get("order")
        if partition:
            table += f" PARTITION BY {self._enclosed_unless_simple(partition)}"
        if order:
            table += f" ORDER BY {self._enclosed_unless_simple(order.expressions)}"
        return table

    def _enclosed_unless_simple(self, items: list[exp.Expression]) -> str:
        first = items[0].this if isinstance(items[0], exp.Ordered) else items[0]
        simple = len(items) == 1 and isinstance(first, exp.Column)
        text = self.listed(items)
        return text if simple else f"({text})"

    # --- queries -------------------------------------------------------------------------------

    def _query(self, node: exp.Expression, body: str) -> str:
        """WITH before and ORDER BY, LIMIT, OFFSET behind a query's own text."""
        parts = [body]
        if node.args.get("with_") is not None:
            parts.insert(0, self.print(node.args["with_"]))
        if node.args.get("order") is not None:
            parts.append(self.print(node.args["order"]))
        for key, word in (("limit", "LIMIT"), ("offset", "OFFSET")):
            if node.args.get(key) is not None:
                parts.append(f"{word} {self.print(node.args[key].expression)}")
        return self.line.join(parts)

    def _with(self, node: exp.Expression) -> str:
        parts = []
        for cte in node.expressions:
            body = self.block(lambda cte=cte: self.print(cte.this))  # type: ignore[misc]
            parts.append(f"{self.print(cte.args['alias'])} AS {body}")
        return "WITH " + ("," + self.line).join(parts)

    def _select(self, node: exp.Expression) -> str:
        head = "SELECT" + self._hints(node)
        if node.args.get("distinct") is not None:
            head += " DISTINCT"
        parts = [self._spread(head, node.expressions)]
        if node.args.get("from_") is not None:
            parts.append("FROM " + self._joined(node.args["from_"].this, node.args.get("joins")))
        for key, word in (("where", "WHERE"), ("group", "GROUP BY"), ("having", "HAVING")):
            if node.args.get(key) is not None:
                parts.append(f"{word} {self.print(node.args[key])}")
        windows = node.args.get("windows") or []
        if windows:
            named = [f"{self.print(w.this)} AS ({self._window_definition(w)})" for w in windows]
            parts.append("WINDOW " + ", ".join(named))
        return self._query(node, self.line.join(parts))

    def _clause(self, node: exp.Expression) -> str:
        return self.print(node.this)

    def _group(self, node: exp.Expression) -> str:
        return self.listed(node.expressions)

    def _grouping(self, node: exp.Expression) -> str:
        words = {exp.Rollup: "ROLLUP", exp.Cube: "CUBE"}
        return f"{words.get(type(node), 'GROUPING SETS')} ({self.listed(node.expressions)})"

    def _set_operation(self, node: exp.Expression) -> str:
        """Walks down the left side in a loop: a long UNION is a deep tree."""
        parts: list[str] = []
        left = node
        while isinstance(left, exp.SetOperation) and (left is node or not _modified(left)):
            everything = "" if left.args.get("distinct") else " ALL"
            parts += [self.print(left.expression), type(left).__name__.upper() + everything]
            left = left.this
        return self._query(node, self.line.join([self.print(left), *reversed(parts)]))

    def _values(self, node: exp.Expression) -> str:
        return self._query(node, self._spread("VALUES", node.expressions))

    def _order(self, node: exp.Expression) -> str:
        return f"ORDER BY {self.listed(node.expressions)}"

    def _ordered(self, node: exp.Expression) -> str:
        text = self.print(node.this) + (" DESC" if node.args.get("desc") else "")
        first = node.args.get("nulls_first")
        return text if first is None else f"{text} NULLS {'FIRST' if first else 'LAST'}"

    def _alias(self, node: exp.Expression) -> str:
        return f"{self.print(node.this)} AS {self.print(node.args['alias'])}"

    # --- relations -----------------------------------------------------------------------------

    def _joined(self, first: exp.Expression, joins: list[exp.Expression] | None) -> str:
        parts = [self.print(first)]
        for join in joins or []:
            comma = join.args.get("kind") == "COMMA"
            parts.append("," + self.line if comma else self.line)
            parts.append(self._join(join))
        return "".join(parts)

    def _join(self, node: exp.Expression) -> str:
        args = node.args
        words = [args.get("method"), args.get("side"), args.get("kind"), "JOIN"]
        if args.get("kind") == "COMMA":
            words = []
        elif args.get("kind") == "INNER":
            words.remove("INNER")
        text = " ".join([*[word for word in words if word], self.print(node.this)])
        if args.get("on") is not None:
            text += f" ON {self.print(args['on'])}"
        if args.get("using"):
            text += f" USING ({self.listed(args['using'])})"
        return text

    def _relation(self, node: exp.Expression, body: str) -> str:
        if node.args.get("as_of") is not None:
            body += f" FOR SYSTEM_TIME AS OF {self.print(node.args['as_of'])}"
        body += self._hints(node)
        alias = node.args.get("alias")
        return body if alias is None else f"{body} AS {self.print(alias)}"

    def _table(self, node: exp.Expression) -> str:
        parts = [node.args.get(key) for key in ("catalog", "db", "this")]
        name = ".".join(self.print(part) for part in parts if part is not None)
        return self._relation(node, name)

    def _subquery(self, node: exp.Expression) -> str:
        body = self.block(lambda: self.print(node.this))
        return self._relation(node, self._query(node, body))

    def _table_function(self, node: exp.Expression) -> str:
        return self._relation(node, f"TABLE({self._function(node)})")

    def _function(self, node: exp.Expression) -> str:
        before = [self.print(part) for part in node.args.get("qualifier") or []]
        name = ".".join([*before, quoted_if_needed(node.this)])
        return f"{name}({self.listed(node.expressions)})"

    def _lateral(self, node: exp.Expression) -> str:
        return self._relation(node, f"LATERAL {self.print(node.this)}")

    def _unnest(self, node: exp.Expression) -> str:
        ordinality = " WITH ORDINALITY" if node.args.get("ordinality") else ""
        return self._relation(node, f"UNNEST({self.listed(node.expressions)}){ordinality}")

    def _join_group(self, node: exp.Expression) -> str:
        return f"({self._joined(node.this, node.args['joins'])})"

    def _table_alias(self, node: exp.Expression) -> str:
        name = self.print(node.this)
        columns = node.args.get("columns")
        return f"{name} ({self.listed(columns)})" if columns else name

    def _hints(self, node: exp.Expression) -> str:
        hints = node.args.get("hints")
        return f" /*+ {self.listed(hints)} */" if hints else ""

    def _hint(self, node: exp.Expression) -> str:
        inside = f"({self.listed(node.expressions)})" if node.expressions else ""
        return f"{quoted_if_needed(node.this)}{inside}"

    def _hint_option(self, node: exp.Expression) -> str:
        return f"{quoted_text(node.this)} = {quoted_text(node.args['value'])}"

    # --- patterns ------------------------------------------------------------------------------

    def _match(self, node: exp.Expression) -> str:
        body = self.block(lambda: self.line.join(self._match_clauses(node.args)))
        return self._relation(node, f"{self.print(node.this)} MATCH_RECOGNIZE {body}")

    def _match_clauses(self, args: dict[str, Any]) -> list[str]:
        parts = []
        if args.get("partition_by"):
            parts.append(f"PARTITION BY {self.listed(args['partition_by'])}")
        if args.get("order"):
            parts.append(self.print(args["order"]))
        if args.get("measures"):
            parts.append(f"MEASURES {self.listed(args['measures'])}")
        parts += [args["rows"]] if args.get("rows") else []
        parts += [self.print(args["after"])] if args.get("after") else []
        within = f" WITHIN {self.print(args['within'])}" if args.get("within") else ""
        parts.append(f"PATTERN ({self.print(args['pattern'])}){within}")
        if args.get("subsets"):
            parts.append(f"SUBSET {self.listed(args['subsets'])}")
        definitions = [
            f"{self.print(d.args['alias'])} AS {self.print(d.this)}" for d in args["define"]
        ]
        return [*parts, "DEFINE " + ", ".join(definitions)]

    def _after_match(self, node: exp.Expression) -> str:
        variable = "" if node.this is None else f" {self.print(node.this)}"
        return f"AFTER MATCH SKIP {node.args['kind']}{variable}"

    def _subset(self, node: exp.Expression) -> str:
        return f"{self.print(node.this)} = ({self.listed(node.expressions)})"

    def _pattern_part(self, node: exp.Expression) -> str:
        """A part of a pattern, in parentheses where it would fall apart without."""
        text = self.print(node)
        loose = isinstance(node, nodes.PatternChoice | nodes.PatternSequence | nodes.PatternRepeat)
        return f"({text})" if loose else text

    def _pattern_sequence(self, node: exp.Expression) -> str:
        if not node.expressions:
            return "()"
        return " ".join(
            self.print(step) if isinstance(step, nodes.PatternRepeat) else self._pattern_part(step)
            for step in node.expressions
        )

    def _pattern_choice(self, node: exp.Expression) -> str:
        return " | ".join(
            f"({self.print(one)})" if isinstance(one, nodes.PatternChoice) else self.print(one)
            for one in node.expressions
        )

    def _pattern_repeat(self, node: exp.Expression) -> str:
        least, most = node.args["least"], node.args.get("most")
        known = {(0, None): "*", (1, None): "+", (0, 1): "?"}
        exact = f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"
        reluctant = "" if node.args["greedy"] else "?"
        return self._pattern_part(node.this) + known.get((least, most), exact) + reluctant

    def _pattern_wrapped(self, node: exp.Expression) -> str:
        if isinstance(node, nodes.PatternExclude):
            return f"{{- {self.print(node.this)} -}}"
        return f"PERMUTE({self.listed(node.expressions)})"

    _PRINTERS: dict[type[exp.Expression], Callable[[TreePrinter, Any], str]] = {  # noqa: RUF012
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
        nodes.RowConstructor: _row,
        nodes.ArrayConstructor: _collection,
        nodes.MapConstructor: _collection,
        nodes.MultisetConstructor: _collection,
        exp.Tuple: _tuple,
        exp.Paren: lambda self, node: f"({self.print(node.this)})",
        exp.Neg: _negative,
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
        nodes.TableArgument: _table_argument,
        exp.With: _with,
        exp.Select: _select,
        exp.Union: _set_operation,
        exp.Intersect: _set_operation,
        exp.Except: _set_operation,
        exp.Values: _values,
        exp.Order: _order,
        exp.Ordered: _ordered,
        exp.Alias: _alias,
        exp.Where: _clause,
        exp.Having: _clause,
        exp.Group: _group,
        exp.GroupingSets: _grouping,
        exp.Rollup: _grouping,
        exp.Cube: _grouping,
        exp.Join: _join,
        exp.From: _clause,
        exp.Table: _table,
        exp.Subquery: _subquery,
        exp.Lateral: _lateral,
        exp.Unnest: _unnest,
        exp.TableAlias: _table_alias,
        nodes.TableFunction: _table_function,
        nodes.JoinGroup: _join_group,
        nodes.Hint: _hint,
        nodes.HintOption: _hint_option,
        nodes.MatchRecognize: _match,
        nodes.AfterMatch: _after_match,
        nodes.Subset: _subset,
        nodes.PatternVariable: _clause,
        nodes.PatternAnchor: lambda self, node: node.this,
        nodes.PatternSequence: _pattern_sequence,
        nodes.PatternChoice: _pattern_choice,
        nodes.PatternRepeat: _pattern_repeat,
        nodes.PatternExclude: _pattern_wrapped,
        nodes.PatternPermute: _pattern_wrapped,
    }


# --- calls with keywords -----------------------------------------------------------------------


def _extract(printer: TreePrinter, args: list[exp.Expression]) -> str | None:
    unit, operand = args
    return f"{printer.print(unit)} FROM {printer.print(operand)}"


def _trim(printer: TreePrinter, args: list[exp.Expression]) -> str | None:
    if not isinstance(args[0], nodes.Symbol):
        return None
    side, what, operand = (printer.print(arg) for arg in args)
    return f"{side} {what} FROM {operand}"


def _position(printer: TreePrinter, args: list[exp.Expression]) -> str | None:
    what, where = printer.print(args[0], RANGE + 1), printer.print(args[1])
    start = "".join(f" FROM {printer.print(arg)}" for arg in args[2:])
    return f"{what} IN {where}{start}"


def _overlay(printer: TreePrinter, args: list[exp.Expression]) -> str | None:
    text, new, start = (printer.print(arg) for arg in args[:3])
    length = "".join(f" FOR {printer.print(arg)}" for arg in args[3:])
    return f"{text} PLACING {new} FROM {start}{length}"


def _round(printer: TreePrinter, args: list[exp.Expression]) -> str | None:
    if not isinstance(args[-1], nodes.Symbol):
        return None
    return f"{printer.print(args[0])} TO {printer.print(args[1])}"


_SPECIAL_CALLS: dict[str, Callable[[TreePrinter, list[exp.Expression]], str | None]] = {
    "EXTRACT": _extract,
    "TRIM": _trim,
    "POSITION": _position,
    "OVERLAY": _overlay,
    "CEIL": _round,
    "CEILING": _round,
    "FLOOR": _round,
}


def _call_name(name: str) -> str:
    """Any plain word can be called, but for those that begin something else."""
    if is_plain(name) and name.upper() not in NEVER_CALLED:
        return name
    return "`" + name.replace("`", "``") + "`"


def _is_json(node: exp.Expression) -> bool:
    """Is this `x IS JSON ...`, which is kept as a call?"""
    return isinstance(node, exp.Anonymous) and node.this.startswith("IS JSON")


def _modified(query: exp.Expression) -> bool:
    return any(query.args.get(key) is not None for key in ("with_", "order", "limit", "offset"))


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
