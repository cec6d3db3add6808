"""Prints statements as Flink SQL that parses back to the same statement."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sqlglot import exp

from tidemark.dialect import statements as s
from tidemark.dialect.keywords import quoted_if_needed
from tidemark.dialect.literals import quoted_string
from tidemark.dialect.print_tree import TreePrinter


class StatementPrinter(TreePrinter):
    """Prints statements, one clause per line."""

    def __init__(self) -> None:
        super().__init__(pretty=True)

    def script(self, script: s.Script) -> str:
        return "\n\n".join(self.statement(statement) + ";" for statement in script.statements)

    def statement(self, statement: s.Statement) -> str:
        return self._STATEMENTS[type(statement)](self, statement)

    # --- parts ---------------------------------------------------------------------------------

    def _name(self, name: s.Name) -> str:
        return ".".join(quoted_if_needed(part) for part in name.parts)

    def _names(self, names: Iterable[str]) -> str:
        return "(" + ", ".join(quoted_if_needed(name) for name in names) + ")"

    def _lines(self, items: Iterable[str]) -> str:
        inside = ",\n".join(f"  {item}" for item in items)
        return f"(\n{inside}\n)"

    def _with_options(self, options: tuple[s.Option, ...]) -> str:
        return f"WITH {self._options(options)}"

    def _options(self, options: tuple[s.Option, ...]) -> str:
        return self._lines(
            f"{quoted_string(option.key)} = {quoted_string(option.value)}" for option in options
        )

    def _comment(self, comment: str | None) -> str:
        return "" if comment is None else f" COMMENT {quoted_string(comment)}"

    def _tail(self, head: str, comment: str | None, options: tuple[s.Option, ...]) -> str:
        text = head + self._comment(comment)
        return f"{text} {self._with_options(options)}" if options else text

    def _create(self, kind: str, statement: Any) -> str:
        words = ["CREATE"]
        words += ["OR REPLACE"] if getattr(statement, "or_replace", False) else []
        words += ["TEMPORARY"] if getattr(statement, "temporary", False) else []
        words += ["SYSTEM"] if getattr(statement, "system", False) else []
        words.append(kind)
        words += ["IF NOT EXISTS"] if statement.if_not_exists else []
        return " ".join([*words, self._name(statement.name)])

    # --- columns -------------------------------------------------------------------------------

    def column(self, column: s.Column) -> str:
        text = f"{quoted_if_needed(column.name)} {self._definition(column)}"
        return text + self._comment(column.comment)

    def _definition(self, column: s.Column) -> str:
        if isinstance(column, s.ComputedColumn):
            return f"AS {self._inline(column.expression)}"
        if isinstance(column, s.PhysicalColumn):
            return str(column.type)
        key = "" if column.key is None else f" FROM {quoted_string(column.key)}"
        return f"{column.type} METADATA{key}" + (" VIRTUAL" if column.virtual else "")

    def _inline(self, expression: exp.Expression) -> str:
        return TreePrinter(pretty=False).print(expression)

    def _watermark(self, watermark: s.Watermark) -> str:
        path = ".".join(quoted_if_needed(part) for part in watermark.column)
        return f"WATERMARK FOR {path} AS {self._inline(watermark.expression)}"

    def _primary_key(self, key: s.PrimaryKey) -> str:
        name = "" if key.constraint is None else f"CONSTRAINT {quoted_if_needed(key.constraint)} "
        return f"{name}PRIMARY KEY {self._names(key.columns)} NOT ENFORCED"

    # --- CREATE, DROP --------------------------------------------------------------------------

    def _create_table(self, table: s.CreateTable) -> str:
        parts = [self._create("TABLE", table)]
        if table.must_exist:
            parts = [f"REPLACE TABLE {self._name(table.name)}"]
        parts += [self._names(table.order)] if table.order else []
        elements = [self.column(column) for column in table.columns]
        elements += [self._watermark(table.watermark)] if table.watermark else []
        elements += [self._primary_key(table.primary_key)] if table.primary_key else []
        parts += [self._lines(elements)] if elements else []
        parts += [self._comment(table.comment).strip()] if table.comment is not None else []
        if table.distribution is not None:
            parts.append(f"DISTRIBUTED {self._distribution(table.distribution)}")
        if table.partitioned_by:
            parts.append(f"PARTITIONED BY {self._names(table.partitioned_by)}")
        parts += [self._with_options(table.options)] if table.options else []
        parts += [self._like_table(table.like)] if table.like else []
        text = " ".join(parts)
        return text if table.query is None else f"{text} AS\n{self.print(table.query)}"

    def _distribution(self, distribution: s.Distribution) -> str:
        """What follows DISTRIBUTED, or DISTRIBUTION in ALTER TABLE."""
        parts = []
        if distribution.columns:
            parts.append(f"BY {distribution.by or ''}{self._names(distribution.columns)}")
        if distribution.buckets is not None:
            parts.append(f"INTO {distribution.buckets} BUCKETS")
        return " ".join(parts)

    def _like_table(self, like: s.Like) -> str:
        choices = [f"{choice} {feature}" for feature, choice in like.choices]
        return f"LIKE {self._name(like.table)}" + (f" ({' '.join(choices)})" if choices else "")

    def _create_view(self, view: s.CreateView) -> str:
        text = self._create("VIEW", view)
        text += f" {self._names(view.columns)}" if view.columns else ""
        return f"{text}{self._comment(view.comment)} AS\n{self.print(view.query)}"

    def _create_function(self, function: s.CreateFunction) -> str:
        head = f"{self._create('FUNCTION', function)} AS {quoted_string(function.identifier)}"
        head += f" LANGUAGE {function.language}"
        if function.jars:
            head += " USING " + ", ".join(f"JAR {quoted_string(jar)}" for jar in function.jars)
        return self._tail(head, None, function.options)

    def _create_database(self, database: s.CreateDatabase) -> str:
        return self._tail(self._create("DATABASE", database), database.comment, database.options)

    def _create_catalog(self, catalog: s.CreateCatalog) -> str:
        return self._tail(self._create("CATALOG", catalog), catalog.comment, catalog.options)

    def _drop(self, drop: s.Drop) -> str:
        temporary = "TEMPORARY " if drop.temporary else ""
        exists = "IF EXISTS " if drop.if_exists else ""
        cascade = " CASCADE" if drop.cascade else ""
        return f"DROP {temporary}{drop.kind} {exists}{self._name(drop.name)}{cascade}"

    # --- ALTER ---------------------------------------------------------------------------------

    def _alter(self, alter: s.Alter) -> str:
        exists = "IF EXISTS " if alter.if_exists else ""
        head = f"ALTER {alter.kind} {exists}{self._name(alter.name)}"
        first = alter.actions[0]
        write = self._ACTIONS.get(type(first))
        if write is not None and len(alter.actions) == 1:
            return f"{head} {write(self, first)}"
        if isinstance(first, s.SetWatermark) and first.watermark is None:
            return f"{head} DROP WATERMARK"
        if isinstance(first, s.SetPrimaryKey) and first.primary_key is None:
            named = first.constraint
            what = "PRIMARY KEY" if named is None else f"CONSTRAINT {quoted_if_needed(named)}"
            return f"{head} DROP {what}"
        if isinstance(first, s.SetDistribution):
            return f"{head} {self._set_distribution(first)}"
        verb = "ADD" if isinstance(first, s.AddColumn) or getattr(first, "add", False) else "MODIFY"
        return (
            f"{head} {verb} {self._lines(self._alter_element(action) for action in alter.actions)}"
        )

    def _set_distribution(self, action: s.SetDistribution) -> str:
        if action.distribution is None:
            return "DROP DISTRIBUTION"
        verb = "ADD" if action.add else "MODIFY"
        return f"{verb} DISTRIBUTION {self._distribution(action.distribution)}"

    def _alter_element(self, action: s.AlterAction) -> str:
        if isinstance(action, s.SetWatermark) and action.watermark is not None:
            return self._watermark(action.watermark)
        if isinstance(action, s.SetPrimaryKey) and action.primary_key is not None:
            return self._primary_key(action.primary_key)
        assert isinstance(action, s.AddColumn | s.ModifyColumn)
        place = " FIRST" if action.first else ""
        if action.after is not None:
            place = f" AFTER {self._name(action.after)}"
        return self.column(action.column) + place

    def _rename_column(self, action: s.RenameColumn) -> str:
        return f"RENAME {self._name(action.old)} TO {self._name(action.new)}"

    def _reset_options(self, action: s.ResetOptions) -> str:
        return f"RESET ({', '.join(quoted_string(key) for key in action.keys)})"

    _ACTIONS: dict[type[Any], Callable[[StatementPrinter, Any], str]] = {  # noqa: RUF012
        s.RenameTo: lambda self, action: f"RENAME TO {self._name(action.name)}",
        s.SetOptions: lambda self, action: f"SET {self._options(action.options)}",
        s.ResetOptions: _reset_options,
        s.RenameColumn: _rename_column,
        s.DropColumns: lambda self, action: f"DROP {self._names(map(str, action.names))}",
        s.SetComment: lambda self, action: self._comment(action.comment).strip(),
        s.SetImplementation: lambda self, action: (
            f"AS {quoted_string(action.identifier)} LANGUAGE {action.language}"
        ),
        s.AddPartitions: lambda self, action: (
            f"ADD{' IF NOT EXISTS' * action.if_not_exists}"
            + "".join(map(self._partition, action.partitions))
        ),
        s.DropPartitions: lambda self, action: (
            f"DROP{' IF EXISTS' * action.if_exists}"
            + ",".join(map(self._partition, action.partitions))
        ),
        s.SetQuery: lambda self, action: f"AS\n{self.print(action.query)}",
    }

    # --- queries and jobs ----------------------------------------------------------------------

    def _query_statement(self, query: s.Query) -> str:
        return self.print(query.query) + self._emit(query.emit)

    def _emit(self, emit: s.EmitClause | None) -> str:
        if emit is None:
            return ""
        return "\nEMIT " + ", ".join(self._strategy(strategy) for strategy in emit.strategies)

    def _strategy(self, strategy: s.EmitStrategy) -> str:
        delay = "WITHOUT DELAY"
        if strategy.delay is not None:
            delay = f"WITH DELAY {self.duration(strategy.delay)}"
        return delay if strategy.when == "BOTH" else f"{delay} {strategy.when} WATERMARK"

    def _insert(self, insert: s.Insert) -> str:
        text = f"INSERT {'OVERWRITE' if insert.overwrite else 'INTO'} {self._name(insert.target)}"
        if insert.options:
            pairs = [f"{quoted_string(o.key)} = {quoted_string(o.value)}" for o in insert.options]
            text += f" /*+ OPTIONS({', '.join(pairs)}) */"
        text += self._partition(insert.partition)
        if insert.columns:
            text += f" {self._names(insert.columns)}"
        conflict = f"\nON CONFLICT DO {insert.on_conflict}" if insert.on_conflict else ""
        return f"{text}\n{self.print(insert.query)}{self._emit(insert.emit)}{conflict}"

    def _partition(self, values: tuple[s.Option, ...]) -> str:
        pairs = [f"{quoted_if_needed(o.key)} = {quoted_string(o.value)}" for o in values]
        return f" PARTITION ({', '.join(pairs)})" if pairs else ""

    def _statement_set(self, statements: s.StatementSet) -> str:
        inserts = [self._insert(insert) + ";" for insert in statements.inserts]
        return "\n".join(["EXECUTE STATEMENT SET", "BEGIN", *inserts, "END"])

    def _explain(self, explain: s.Explain) -> str:
        details = ", ".join(explain.details) + " " if explain.details else ""
        return f"EXPLAIN {details}{self.statement(explain.statement)}"

    def _compile_plan(self, compile_: s.CompilePlan) -> str:
        verb = "COMPILE AND EXECUTE" if compile_.execute else "COMPILE"
        exists = " IF NOT EXISTS" if compile_.if_not_exists else ""
        statement = self.statement(compile_.statement).removeprefix("EXECUTE ")
        return f"{verb} PLAN {quoted_string(compile_.path)}{exists} FOR\n{statement}"

    def _execute_plan(self, execute: s.ExecutePlan) -> str:
        return f"EXECUTE PLAN {quoted_string(execute.path)}"

    # --- the session ---------------------------------------------------------------------------

    def _set(self, statement: s.Set) -> str:
        if statement.option is None:
            return "SET"
        return (
            f"SET {quoted_string(statement.option.key)} = {quoted_string(statement.option.value)}"
        )

    def _reset(self, statement: s.Reset) -> str:
        return "RESET" if statement.key is None else f"RESET {quoted_string(statement.key)}"

    def _show(self, show: s.Show) -> str:
        text = f"SHOW {show.what}"
        if show.name is not None:
            at_once = show.what.startswith("CREATE") or show.what == "PARTITIONS"
            text += f"{' ' if at_once else ' FROM '}{self._name(show.name)}"
        text += self._partition(show.partition)
        if show.like is not None:
            operator = "ILIKE" if show.any_case else "LIKE"
            text += f"{' NOT' if show.negated else ''} {operator} {quoted_string(show.like)}"
        return text

    def _describe(self, describe: s.Describe) -> str:
        if describe.kind == "JOB":
            return f"DESCRIBE JOB {quoted_string(describe.name.parts[0])}"
        kind = "" if describe.kind == "TABLE" else f"{describe.kind} "
        extended = "EXTENDED " if describe.extended else ""
        return f"DESCRIBE {kind}{extended}{self._name(describe.name)}"

    def _use(self, use: s.Use) -> str:
        return f"USE {'CATALOG ' if use.kind == 'CATALOG' else ''}{self._name(use.name)}"

    def _modules(self, modules: s.Modules) -> str:
        noun = "MODULES" if modules.verb == "USE" else "MODULE"
        return f"{modules.verb} {noun} {', '.join(map(quoted_if_needed, modules.names))}"

    def _jar(self, jar: s.Jar) -> str:
        return f"{jar.verb} JAR {quoted_string(jar.path)}"

    def _analyze(self, analyze: s.Analyze) -> str:
        text = f"ANALYZE TABLE {self._name(analyze.name)}"
        text += f" PARTITION {self._names(analyze.partition)}" if analyze.partition else ""
        text += " COMPUTE STATISTICS"
        if analyze.all_columns:
            return f"{text} FOR ALL COLUMNS"
        columns = ", ".join(map(quoted_if_needed, analyze.columns))
        return f"{text} FOR COLUMNS {columns}" if columns else text

    _STATEMENTS: dict[type[Any], Callable[[StatementPrinter, Any], str]] = {  # noqa: RUF012
        s.CreateTable: _create_table,
        s.CreateView: _create_view,
        s.CreateFunction: _create_function,
        s.CreateDatabase: _create_database,
        s.CreateCatalog: _create_catalog,
        s.Drop: _drop,
        s.Alter: _alter,
        s.Query: _query_statement,
        s.Insert: _insert,
        s.StatementSet: _statement_set,
        s.Explain: _explain,
        s.CompilePlan: _compile_plan,
        s.ExecutePlan: _execute_plan,
        s.Set: _set,
        s.Reset: _reset,
        s.Show: _show,
        s.Describe: _describe,
        s.Use: _use,
        s.Modules: _modules,
        s.Jar: _jar,
        s.Analyze: _analyze,
    }
