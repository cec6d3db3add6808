"""FROM clauses: tables, subqueries, table functions, joins, hints."""

from __future__ import annotations

from sqlglot import exp

from tidemark.dialect import nodes, unsupported
from tidemark.dialect.cursor import DOUBLE, NAME, NUMBER, STRING
from tidemark.dialect.expressions import identifier
from tidemark.dialect.keywords import CHANGELOG_FUNCTIONS, NEVER_CALLED, SNAPSHOT
from tidemark.dialect.literals import string_of
from tidemark.dialect.operators import QUERY_STARTS
from tidemark.dialect.patterns import PatternParser
from tidemark.dialect.tokens import HINT_END, HINT_START


class RelationParser(PatternParser):
    """Adds relations and joins."""

    # --- joins ---------------------------------------------------------------------------------

    def relation_with_joins(self) -> tuple[exp.Expression, list[exp.Expression]]:
        first = self.relation()
        joins: list[exp.Expression] = []
        while (join := self._join()) is not None:
            joins.append(join)
        return first, joins

    def _join(self) -> exp.Expression | None:
        start = self.here
        if self.take(","):
            return self.located(self._comma_join(), start)
        method = "NATURAL" if self.take("NATURAL") else None
        side = self.take_any("LEFT", "RIGHT", "FULL")
        if side is not None:
            self._refuse_half_joins(start)
            self.take("OUTER")
            kind = None
        else:
            kind = self.take_any("INNER", "CROSS")
        if not self.take("JOIN"):
            if method or side or kind:
                self.fail_expecting("`JOIN`")
            return None
        right = self.relation()
        join = exp.Join(this=right, side=side, kind=kind or (None if side else "INNER"))
        join.set("method", method)
        self._condition(join)
        return self.located(join, start)

    def _comma_join(self) -> exp.Expression:
        join = exp.Join(this=self.relation(), kind="COMMA")
        if join.this.args.get("as_of") is not None and self._takes_on():
            join.set("on", self.expression())
        return join

    def _refuse_half_joins(self, start: int) -> None:
        if self.at(*unsupported.HALF_JOIN.each) and self.peek() == "JOIN":
            kind = self.next().text.upper()
            self.refuse(unsupported.HALF_JOIN, kind, start=start)

    def _condition(self, join: exp.Join) -> None:
        without = "NATURAL" if join.method else "CROSS" if join.kind == "CROSS" else None
        if without is not None:
            if self.at("ON", "USING") and not self._at_on_conflict:
                self.fail(f"{self.key} is not allowed in a {without} JOIN")
        elif self._takes_on():
            join.set("on", self.expression())
        elif self.take("USING"):
            self.expect("(")
            join.set("using", self.enclosed(self._identifier))
        elif not isinstance(join.this, exp.Lateral | exp.Unnest):
            self.fail_expecting(
                "`ON` or `USING`", hint="for a join without a condition, write CROSS JOIN"
            )

    def _takes_on(self) -> bool:
        return not self._at_on_conflict and self.take("ON")

    @property
    def _at_on_conflict(self) -> bool:
        """Whether the query of an INSERT ends here."""
        return self.sees("ON", "CONFLICT", "DO")

    # --- one relation --------------------------------------------------------------------------

    def relation(self) -> exp.Expression:
        with self.deeper():
            start = self.here
            relation = self._bare_relation()
            self._refuse_table_suffix()
            hints = self.hints()
            self._alias_and_time(relation)
            hints += self.hints()
            if hints:
                relation.set("hints", hints)
            self.located(relation, start)
            if self.at("MATCH_RECOGNIZE"):
                relation = self.located(self.match_recognize(relation), start)
                self._alias_and_time(relation)
                self.located(relation, start)
            return relation

    def _bare_relation(self) -> exp.Expression:
        start = self.here
        if self.at("("):
            return self._parenthesized()
        if self.sees("LATERAL", "UNNEST", "("):
            self.next()  # it may refer to the tables before it in any case
            return self._unnest()
        if self.take("LATERAL"):
            return self.located(exp.Lateral(this=self._made_for_each_row()), start)
        if self.sees("TABLE", "("):
            return self._table_call()
        if self.sees("UNNEST", "("):
            return self._unnest()
        if self.at("VALUES"):
            self.fail("VALUES in FROM must be in parentheses", hint="write (VALUES ...)")
        if self._at_call():
            return self._function()
        return self.table()

    def _made_for_each_row(self) -> exp.Expression:
        """What follows LATERAL: a subquery, `TABLE(f(...))` or `f(...)`."""
        if self.at("("):
            return self.subquery()
        called = self._at_call() and not self.sees("TABLE", "(")
        return self._function() if called else self._table_call()

    def _parenthesized(self) -> exp.Expression:
        start = self.here
        if self.starts_query(1):
            return self.subquery()
        self.expect("(")
        first, joins = self.relation_with_joins()
        self.expect(")")
        if not joins:
            return first
        return self.located(nodes.JoinGroup(this=first, joins=joins), start)

    def table(self) -> exp.Expression:
        """`[[catalog.]database.]table`"""
        start = self.here
        parts = [self._table_part()]
        while self.take("."):
            parts.append(self._table_part())
        if len(parts) > 3:
            self.fail(
                "a table name has at most three parts: catalog, database and table",
                at=self.span_from(start),
            )
        keys = ("this", "db", "catalog")
        named = dict(zip(keys, reversed(parts), strict=False))
        return self.located(exp.Table(**named), start)

    def _table_part(self) -> exp.Expression:
        start = self.here
        return self.located(identifier(self.name("a table name")), start)

    def _alias_and_time(self, relation: exp.Expression) -> None:
        """FOR SYSTEM_TIME AS OF and the alias, in either order."""
        if isinstance(relation, nodes.JoinGroup):
            return
        self._as_of(relation)
        self._alias(relation)
        self._as_of(relation)

    def _as_of(self, relation: exp.Expression) -> None:
        if not self.sees("FOR", "SYSTEM_TIME"):
            return
        if relation.args.get("as_of") is not None:
            self.fail("FOR SYSTEM_TIME is given twice")
        self.here += 2
        if not self.take("AS", "OF"):
            self.refuse(unsupported.SYSTEM_TIME)
        relation.set("as_of", self.expression())

    def _alias(self, relation: exp.Expression) -> None:
        start = self.here
        if not self.take("AS") and not self.at_alias():
            return
        if relation.args.get("alias") is not None:
            self.fail("this already has an alias")
        alias = exp.TableAlias(this=self._identifier_of("an alias"))
        if self.take("("):
            alias.set("columns", self.enclosed(self._identifier))
        relation.set("alias", self.located(alias, start))

    def _identifier_of(self, what: str) -> exp.Expression:
        start = self.here
        return self.located(identifier(self.name(f"{what}, a name")), start)

    def _refuse_table_suffix(self) -> None:
        if self.at(*unsupported.TABLE_SUFFIX.each):
            self.refuse(unsupported.TABLE_SUFFIX, self.key)

    # --- table functions -----------------------------------------------------------------------

    def _at_call(self) -> bool:
        """`f(` or `a.b.f(`"""
        ahead = 0
        while self.peek(ahead + 1) == ".":
            ahead += 2
        word = self.peek(ahead)
        return self.peek(ahead + 1) == "(" and (word == NAME or word not in NEVER_CALLED)

    def _table_call(self) -> exp.Expression:
        """`TABLE(f(...))`"""
        start = self.here
        self.expect("TABLE", "(")
        function = self._function()
        self.expect(")")
        return self.located(function, start)

    def _function(self) -> exp.Expression:
        start = self.here
        *qualifier, name = self._function_name()
        if name.upper() in unsupported.MODEL_FUNCTION.each:
            self.refuse(unsupported.MODEL_FUNCTION, name.upper(), start=start)
        self.expect("(")
        takes_default = name.upper() in {*CHANGELOG_FUNCTIONS, SNAPSHOT}
        argument = self._default_or_argument if takes_default else self._table_function_argument
        arguments = [] if self.at(")") else self.listed(argument)
        self.expect_close(")")
        function = nodes.TableFunction(
            this=name,
            qualifier=[identifier(part) for part in qualifier] or None,
            expressions=arguments,
        )
        return self.located(function, start)

    def _function_name(self) -> list[str]:
        parts = [self.any_word("a table function name")]
        while self.take("."):
            parts.append(self.any_word("a table function name"))
        return parts

    def _table_function_argument(self) -> exp.Expression:
        return self.argument(self._table_or_value)

    def _default_or_argument(self) -> exp.Expression:
        return self.argument(self._default_table_or_value)

    def _default_table_or_value(self) -> exp.Expression:
        start = self.here
        if self.take("DEFAULT"):
            return self.located(nodes.DefaultArgument(), start)
        return self._table_or_value()

    def _table_or_value(self) -> exp.Expression:
        if self.at("PARTITION", "ORDER"):
            self.fail_expecting(
                "an argument", hint=f"write {self.key} BY after the table: TABLE t {self.key} BY c"
            )
        is_table = self.at(*QUERY_STARTS) or (self.at("(") and self.starts_query(1))
        return self._table_argument() if is_table else self.value_argument()

    def _table_argument(self) -> exp.Expression:
        """`TABLE t [PARTITION BY ...] [ORDER BY ...]`, or a query instead of `TABLE t`."""
        start = self.here
        argument = nodes.TableArgument(this=self._argument_table())
        argument.set("partition_by", self._partitioned() or None)
        if self.at("ORDER"):
            argument.set("order", self._order_of_table())
        return self.located(argument, start)

    def _argument_table(self) -> exp.Expression:
        start = self.here
        if self.at("("):
            return self.subquery()
        if not self.at("TABLE"):
            return self.located(exp.Subquery(this=self.query()), start)
        if self.peek() == "(" and not self.starts_query(2):
            return self._table_call()
        self.here += 1
        return self.subquery() if self.at("(") else self.table()

    def _partitioned(self) -> list[exp.Expression]:
        """PARTITION BY one expression, or several in parentheses: a comma ends the argument."""
        if not self.take("PARTITION"):
            return []
        self.expect("BY")
        return self.enclosed(self.expression) if self.take("(") else [self.expression()]

    def _order_of_table(self) -> exp.Expression:
        start = self.here
        self.expect("ORDER", "BY")
        ordered = self.enclosed(self._ordered) if self.take("(") else [self._ordered()]
        return self.located(exp.Order(expressions=ordered), start)

    def _unnest(self) -> exp.Expression:
        start = self.here
        self.expect("UNNEST", "(")
        arguments = self.listed(self.expression)
        if len(arguments) > 1:
            self.refuse(unsupported.UNNEST_SEVERAL, start=start)
        self.expect_close(")")
        unnest = exp.Unnest(expressions=arguments)
        if self.take("WITH", "ORDINALITY"):
            unnest.set("ordinality", True)
        return self.located(unnest, start)

    # --- hints ---------------------------------------------------------------------------------

    def hints(self) -> list[exp.Expression]:
        """`/*+ NAME(...), NAME(...) */`, or nothing."""
        if not self.take(HINT_START):
            return []
        found = [self._hint_item()]
        while not self.take(HINT_END):
            self.take(",")
            found.append(self._hint_item())
        return found

    def _hint_item(self) -> exp.Expression:
        start = self.here
        name = self.any_word("a hint name").upper()
        arguments: list[exp.Expression] = []
        if self.take("(") and not self.take(")"):
            arguments = self.enclosed(self._hint_argument)
        return self.located(nodes.Hint(this=name, expressions=arguments), start)

    def _hint_argument(self) -> exp.Expression:
        start = self.here
        value = self._hint_string()
        if self.take("="):
            option = nodes.HintOption(this=value, value=self._hint_string())
            return self.located(option, start)
        return self.located(exp.Literal.string(value), start)

    def _hint_string(self) -> str:
        if self.at(STRING):
            return string_of(self)
        if self.at(NUMBER):
            return self.next().text
        if self.at(DOUBLE):
            self.fail_expecting("a string")
        parts = [self.any_word("a name or a string")]
        while self.take("."):
            parts.append(self.any_word("a name"))
        return ".".join(parts)
