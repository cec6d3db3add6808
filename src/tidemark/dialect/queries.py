"""Queries: SELECT, VALUES, TABLE, WITH and the set operations."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from tidemark.dialect import nodes, unsupported
from tidemark.dialect.cursor import NUMBER, STRING
from tidemark.dialect.relations import RelationParser
from tidemark.dialect.statements import EmitClause, EmitStrategy


class QueryParser(RelationParser):
    """Adds `query` to a cursor."""

    def query(self) -> exp.Expression:
        with self.deeper():
            start = self.here
            ctes = self._with() if self.at("WITH") else None
            query = self._set_operations()
            if self._modifies(query):
                self.located(query, start)
            if ctes is not None:
                query.set("with_", ctes)
                self.located(query, start)
            return query

    # --- WITH ----------------------------------------------------------------------------------

    def _with(self) -> exp.Expression:
        start = self.here
        self.expect("WITH")
        if self.take("RECURSIVE"):
            self.refuse(unsupported.RECURSIVE, start=start)
        return self.located(exp.With(expressions=self.listed(self._cte)), start)

    def _cte(self) -> exp.Expression:
        start = self.here
        alias = exp.TableAlias(this=self._identifier_of("the name of a common table expression"))
        if self.take("("):
            alias.set("columns", self.enclosed(self._identifier))
        self.located(alias, start)
        self.expect("AS", "(")
        query = self.query()
        self.expect(")")
        return self.located(exp.CTE(this=query, alias=alias), start)

    # --- set operations ------------------------------------------------------------------------

    def _set_operations(self) -> exp.Expression:
        """UNION and EXCEPT from left to right; INTERSECT binds tighter."""
        start = self.here
        left = self._intersections()
        while (word := self.take_any("UNION", "EXCEPT", "MINUS")) is not None:
            if word == "MINUS":
                self.refuse(unsupported.MINUS)
            node = exp.Union if word == "UNION" else exp.Except
            left = self._combine(node, left, start, self._intersections)
        return left

    def _intersections(self) -> exp.Expression:
        start = self.here
        left = self._operand_query()
        while self.take("INTERSECT"):
            left = self._combine(exp.Intersect, left, start, self._operand_query)
        return left

    def _combine(
        self,
        node: type[exp.Expression],
        left: exp.Expression,
        start: int,
        operand: Callable[[], exp.Expression],
    ) -> exp.Expression:
        distinct = self.take_any("ALL", "DISTINCT") != "ALL"
        return self.located(node(this=left, expression=operand(), distinct=distinct), start)

    def _operand_query(self) -> exp.Expression:
        start = self.here
        if self.at("("):
            with self.deeper():
                return self.subquery()
        if self.at("SELECT"):
            return self.located(self._select(), start)
        if self.at("VALUES"):
            return self.located(self._values(), start)
        if not self.take("TABLE"):
            self.fail_expecting("a query (`SELECT`, `VALUES`, `WITH` or `TABLE`)")
        table = self.located(exp.From(this=self.table()), start)
        star = self.located(exp.Star(), start)
        return self.located(exp.Select(expressions=[star], from_=table), start)

    # --- what ends a query ---------------------------------------------------------------------

    def _modifies(self, query: exp.Expression) -> bool:
        """Add ORDER BY, LIMIT and OFFSET; return whether there were any."""
        before = self.here
        if self.at("ORDER"):
            query.set("order", self.order_by())
        if self.at("LIMIT"):
            self._limit(query)
        if self.at("OFFSET"):
            start = self.here
            self.here += 1
            offset = exp.Offset(expression=self._row_count())
            self.take_any("ROW", "ROWS")
            query.set("offset", self.located(offset, start))
        if self.at("LIMIT") and query.args.get("offset") is not None:
            self.fail("LIMIT must come before OFFSET")
        if self.at("FETCH"):
            self._fetch(query)
        if self.at(*unsupported.CLAUSE.each):
            self.refuse(unsupported.CLAUSE, self.key)
        return self.here > before

    def _limit(self, query: exp.Expression) -> None:
        start = self.here
        self.expect("LIMIT")
        if self.take("ALL"):
            return
        limit = exp.Limit(expression=self._row_count())
        if self.at(","):
            self.fail("LIMIT takes one number", hint="write LIMIT count OFFSET start")
        query.set("limit", self.located(limit, start))

    def _fetch(self, query: exp.Expression) -> None:
        start = self.here
        self.expect("FETCH")
        self.expect_any("FIRST", "NEXT")
        limit = exp.Limit(expression=self._row_count())
        self.expect_any("ROW", "ROWS")
        self.expect("ONLY")
        query.set("limit", self.located(limit, start))

    def _row_count(self) -> exp.Expression:
        if not self.at(NUMBER) or not self.token.text.isdecimal():
            self.fail_expecting("a row count")
        start = self.here
        return self.located(exp.Literal(this=self.next().text, is_string=False), start)

    # --- SELECT --------------------------------------------------------------------------------

    def _select(self) -> exp.Expression:
        start = self.here
        self.expect("SELECT")
        hints = self.hints()
        if self.at("STREAM") and self.peek() not in (",", "FROM"):
            self.refuse(unsupported.STREAM, start=start)
        distinct = self.take_any("DISTINCT", "ALL") == "DISTINCT"
        select = exp.Select(expressions=self.listed(self._projection))
        if hints:
            select.set("hints", hints)
        if distinct:
            select.set("distinct", exp.Distinct())
        self._from(select)
        self._clauses(select)
        return select

    def _projection(self) -> exp.Expression:
        start = self.here
        if self.at("FROM", ")", ";"):
            self.fail(
                f"expected a column, found {self.found()}",
                hint="remove the comma before it" if self.keys[start - 1] == "," else None,
            )
        if self.take("*"):
            if self.at(*unsupported.STAR_WITHOUT.each) and self.peek() == "(":
                self.refuse(unsupported.STAR_WITHOUT, self.key, start=start)
            return self.located(exp.Star(), start)
        value = self.expression()
        if not self.take("AS") and not self.at_alias():
            return value
        return self.located(exp.Alias(this=value, alias=self._column_alias()), start)

    def _column_alias(self) -> exp.Expression:
        if self.at(STRING):
            self.fail(f"expected an alias, found {self.found()}", hint="names go in back quotes")
        if self.at("("):
            self.refuse(unsupported.SEVERAL_ALIASES)
        return self._identifier_of("an alias")

    def _from(self, select: exp.Expression) -> None:
        start = self.here
        if not self.take("FROM"):
            return
        first, joins = self.relation_with_joins()
        self.located(select_from := exp.From(this=first), start)
        select.set("from_", select_from)
        if joins:
            select.set("joins", joins)

    def _clauses(self, select: exp.Expression) -> None:
        start = self.here
        if self.take("WHERE"):
            select.set("where", self.located(exp.Where(this=self.expression()), start))
        start = self.here
        if self.take("GROUP", "BY"):
            select.set("group", self.located(self._group(), start))
        start = self.here
        if self.take("HAVING"):
            select.set("having", self.located(exp.Having(this=self.expression()), start))
        if self.take("WINDOW"):
            select.set("windows", self.listed(self._named_window))
        start = self.here
        if self.take("QUALIFY"):
            select.set("qualify", self.located(exp.Qualify(this=self.expression()), start))

    def _named_window(self) -> exp.Expression:
        start = self.here
        name = self._identifier_of("a window name")
        self.expect("AS")
        return self.located(self.window_definition(name), start)

    # --- GROUP BY ------------------------------------------------------------------------------

    def _group(self) -> exp.Expression:
        if self.take("DISTINCT"):
            self.refuse(unsupported.GROUP_BY_DISTINCT)
        self.take("ALL")
        return exp.Group(expressions=self.listed(self._grouping))

    def _grouping(self) -> exp.Expression:
        with self.deeper():
            start = self.here
            nested: dict[str, type[exp.Expression]] = {"ROLLUP": exp.Rollup, "CUBE": exp.Cube}
            if self.sees("GROUPING", "SETS", "("):
                self.here += 3
                sets = self.enclosed(self._grouping)
                return self.located(exp.GroupingSets(expressions=sets), start)
            if self.at(*nested) and self.peek() == "(":
                node = nested[self.next().text.upper()]
                self.here += 1
                return self.located(node(expressions=self.enclosed(self._grouping)), start)
            if self.sees("(", ")"):
                self.here += 2
                return self.located(exp.Tuple(expressions=[]), start)
            return self._grouping_expression(start)

    def _grouping_expression(self, start: int) -> exp.Expression:
        """An expression; here `(a, b)` is a group of columns, not a row."""
        parenthesis = self.at("(")
        found = self.expression()
        if parenthesis and self.keys[self.here - 1] == ")":
            if isinstance(found, nodes.RowConstructor):
                return self.located(exp.Tuple(expressions=found.expressions), start)
            if isinstance(found, exp.Paren):
                return self.located(exp.Tuple(expressions=[found.this]), start)
        return found

    # --- VALUES --------------------------------------------------------------------------------

    def _values(self) -> exp.Expression:
        self.expect("VALUES")
        return exp.Values(expressions=self.listed(self._row_of_values))

    def _row_of_values(self) -> exp.Expression:
        start = self.here
        if self.at("(") and not self.starts_query(1):
            self.here += 1
            fields = self.enclosed(self.expression)
            if len(fields) == 1 and isinstance(fields[0], nodes.RowConstructor):
                fields = fields[0].expressions  # (ROW(1, 2)) is the same as ROW(1, 2)
        elif self.sees("ROW", "("):
            self.here += 2
            fields = self.enclosed(self.expression)
        else:
            fields = [self.expression()]
        return self.located(exp.Tuple(expressions=fields), start)

    # --- EMIT ----------------------------------------------------------------------------------

    def emit(self) -> EmitClause | None:
        """`EMIT strategy [, strategy]` after a query, if present."""
        start = self.here
        if not self.take("EMIT"):
            return None
        strategies = tuple(self.listed(self._strategy))
        kinds = [strategy.when for strategy in strategies]
        if len(kinds) > 2 or len(set(kinds)) < len(kinds) or ("BOTH" in kinds and len(kinds) > 1):
            self.fail(
                "these EMIT strategies overlap",
                at=self.span_from(start),
                hint="give at most one BEFORE WATERMARK and one AFTER WATERMARK",
            )
        return EmitClause(strategies, self.span_from(start))

    def _strategy(self) -> EmitStrategy:
        delay = None
        if self.expect_any("WITH", "WITHOUT") == "WITH":
            self.expect("DELAY")
            delay = self._delay()
        else:
            self.expect("DELAY")
        side = self.take_any("BEFORE", "AFTER")
        if side is None:
            return EmitStrategy(delay)
        self.expect("WATERMARK")
        return EmitStrategy(delay, "BEFORE" if side == "BEFORE" else "AFTER")

    def _delay(self) -> exp.Expression:
        """`'1' MINUTE` or `INTERVAL '1' MINUTE`"""
        start = self.here
        self.take("INTERVAL")
        if not self.at(STRING, NUMBER):
            self.fail_expecting("a delay such as '1' MINUTE")
        value = self._string().name if self.at(STRING) else self.next().text
        return self.located(self._interval_of(value, negative=False), start)
