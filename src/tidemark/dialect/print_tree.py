"""Prints queries and relations as Flink SQL, and so completes the printing of trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from sqlglot import exp

from tidemark.dialect import nodes
from tidemark.dialect.keywords import quoted_if_needed
from tidemark.dialect.literals import quoted_string
from tidemark.dialect.print_calls import CallPrinter


class TreePrinter(CallPrinter):
    """Prints any tree of the dialect."""

    # --- queries -------------------------------------------------------------------------------

    def _query(self, node: exp.Expression, body: str) -> str:
        """A query's SQL with the WITH before it and the ORDER BY, LIMIT and OFFSET after it."""
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
        if node.args.get("qualify") is not None:
            parts.append(f"QUALIFY {self.print(node.args['qualify'])}")
        return self._query(node, self.line.join(parts))

    def _clause(self, node: exp.Expression) -> str:
        return self.print(node.this)

    def _group(self, node: exp.Expression) -> str:
        return self.listed(node.expressions)

    def _grouping(self, node: exp.Expression) -> str:
        words = {exp.Rollup: "ROLLUP", exp.Cube: "CUBE"}
        return f"{words.get(type(node), 'GROUPING SETS')} ({self.listed(node.expressions)})"

    def _set_operation(self, node: exp.Expression) -> str:
        """Walk down the left side in a loop: a long UNION is a deep tree."""
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
        return self._relation(node, f"TABLE({self.function(node)})")

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
        return f"{quoted_string(node.this)} = {quoted_string(node.args['value'])}"

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

    def _over_match(self, node: exp.Expression) -> str:
        return f"{node.args['kind']} {self.print(node.this)}"

    def _subset(self, node: exp.Expression) -> str:
        return f"{self.print(node.this)} = ({self.listed(node.expressions)})"

    def _pattern_part(self, node: exp.Expression) -> str:
        """A part of a pattern, in parentheses where it needs them."""
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

    _PRINTERS: ClassVar[dict[type[exp.Expression], Callable[[Any, Any], str]]] = {
        **CallPrinter._PRINTERS,
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
        exp.Qualify: _clause,
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
        nodes.OverMatch: _over_match,
        nodes.PatternVariable: _clause,
        nodes.PatternAnchor: lambda self, node: node.this,
        nodes.PatternSequence: _pattern_sequence,
        nodes.PatternChoice: _pattern_choice,
        nodes.PatternRepeat: _pattern_repeat,
        nodes.PatternExclude: _pattern_wrapped,
        nodes.PatternPermute: _pattern_wrapped,
    }


def _modified(query: exp.Expression) -> bool:
    return any(query.args.get(key) is not None for key in ("with_", "order", "limit", "offset"))
