"""Everything about a script that does not need Spark: applies definitions and plans queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tidemark.catalog import ddl
from tidemark.catalog.analyze import analyze
from tidemark.catalog.catalogs import Catalogs
from tidemark.catalog.create import is_built_in, may_create
from tidemark.catalog.options import STAND_IN_PREFIX, SessionOptions
from tidemark.catalog.stand_ins import known_stand_in
from tidemark.catalog.tables import Relation, TemporalFunction, UserFunction
from tidemark.connectors import registry
from tidemark.dialect import parse_script
from tidemark.dialect import statements as s
from tidemark.errors import CatalogError, Source, Span, SqlError, did_you_mean
from tidemark.physical import Settings
from tidemark.physical.explain import explain
from tidemark.plan.nodes import Sink
from tidemark.plan.planner import Mode, Plan, Planner, Runnable, Traits
from tidemark.plan.windows.emit import EmitRules
from tidemark.session import columns_in_workers, compiled_plans, plan_files, show, sinks
from tidemark.session.describe import describe
from tidemark.session.job_tables import asks_for_jobs
from tidemark.session.plan_files import StoredPlan
from tidemark.session.table_result import TableResult

_NO_JARS = "has no effect: connectors and formats are built in, and functions are in Python"


@dataclass(frozen=True, slots=True)
class Planned:
    """A parsed statement: what it did, what it printed, or what it will run."""

    statement: s.Statement
    source: Source
    message: str | None = None
    result: TableResult | None = None
    plan: Plan | None = None
    # What COMPILE PLAN stores before anything starts, and the options of a plan that is executed.
    compiled: StoredPlan | None = None
    options: SessionOptions | None = None


class Workspace:
    """A catalog, the options of a session, and how statements are planned with them.

    >>> workspace = Workspace()
    >>> [planned] = workspace.plan_script("SELECT 1 AS n")
    >>> planned.plan.roots[0].edge.names
    ('n',)
    """

    def __init__(
        self,
        options: Mapping[str, str] | None = None,
        traits: Traits = registry.traits,
        *,
        runs: bool = False,
    ) -> None:
        self.catalogs = Catalogs(registry.CATALOGS, runs=runs)
        self.options = SessionOptions(options)
        self.planner = Planner(self.catalogs, self.options, traits)
        self.functions_of_plans: list[UserFunction] = []
        self._compiled: dict[str, StoredPlan] = {}
        self.stand_ins: dict[str, UserFunction] = {}

    def declare_function(self, function: UserFunction) -> None:
        """Make a Python function callable by its name; its result type must be known."""
        if is_built_in(function.name):
            raise CatalogError(
                f"`{function.name}` is a built-in function", hint="choose a different name"
            )
        if function.returns is None:
            raise CatalogError(
                f"the result type of function `{function.name}` is unknown",
                hint='annotate the function (`-> str`), or pass returns="STRING"',
            )
        self.catalogs.put_function(s.Name((function.name,)), function)

    def declare_temporal_function(self, function: TemporalFunction) -> None:
        """Make a table callable with a time; the columns that are named must exist."""
        edge = self.planner.relation(self.catalogs.relation(s.Name((function.table,))))
        known = {column.name: column for column in edge.columns}
        for name in (function.time_attribute, *function.primary_key):
            if name not in known:
                raise CatalogError(
                    f"column `{name}` does not exist in `{function.table}`",
                    hint=did_you_mean(name, known),
                )
        if known[function.time_attribute].time is None:
            raise CatalogError(
                f"`{function.time_attribute}` is not a time attribute of `{function.table}`",
                hint="declare a WATERMARK for it, or add a column AS PROCTIME()",
            )
        self.catalogs.temporal_functions[function.name.lower()] = function

    def plan_script(self, text: str, name: str = "<sql>") -> list[Planned]:
        """Apply and plan every statement. Raises at the first invalid one."""
        script = parse_script(text, name)
        return [self.apply(statement, script.source) for statement in script.statements]

    def plan_windows(self, statement: s.Query, source: Source, rules: EmitRules) -> Planned:
        """A query whose windows emit results by the rules, regardless of session options."""
        try:
            return Planned(statement, source, plan=self.planner.plan(statement, rules))
        except SqlError as error:
            raise error.located_in(source) from None

    def dry_run(self, statement: Runnable, source: Source, mode: Mode) -> Plan:
        """A query or INSERT as a stream or as a batch, which will not write to its sinks."""
        try:
            return self.planner.plan(statement, dry_run=mode)
        except SqlError as error:
            raise error.located_in(source) from None

    def apply(self, statement: s.Statement, source: Source) -> Planned:
        """Apply or plan a statement without Spark. Raises an SqlError located in `source`."""
        try:
            return self._apply(statement, source)
        except SqlError as error:
            raise error.located_in(source) from None

    def _apply(self, statement: s.Statement, source: Source) -> Planned:
        match statement:
            case s.Query() | s.Insert() | s.StatementSet():
                return Planned(statement, source, plan=self.planner.plan(statement))
            case s.CreateTable(query=query) if query is not None:
                return self._create_as(statement, source)
            case s.CompilePlan():
                return self._compile(statement, source)
            case s.ExecutePlan(path=path):
                return self._planned(statement, source, self._stored(path, statement.span))
            case s.Explain():
                plan = self.planner.plan(statement.statement)
                settings = Settings.of(
                    self.options,
                    tables=columns_in_workers.TABLES,
                    writes=sinks.writes,
                )
                text = explain(plan, "text", statement.details, settings)
                return Planned(statement, source, result=show.text("result", text))
            case s.Set(option=s.Option() as option):
                note = self.options.set(option.key, option.value, option.span)
                return Planned(statement, source, message=note or f"'{option.key}' set")
            case s.Set():
                return Planned(statement, source, result=show.options(self.options))
            case s.Reset(key=key):
                self.options.reset(key, statement.span)
                return Planned(statement, source, message=f"'{key}' reset" if key else "reset")
            case _ if asks_for_jobs(statement):
                return Planned(statement, source)
            case s.Show():
                shown = show.show(statement, self.catalogs, self.planner)
                return Planned(statement, source, result=shown)
            case s.Jar(verb=verb):
                message = f"{verb} JAR {_NO_JARS}"
                return Planned(statement, source, message=message)
            case s.Analyze():
                message = analyze(statement, self.catalogs, batch=self.options.batch)
                return Planned(statement, source, message=message)
            case s.Describe():
                described = describe(statement, self.catalogs, self.planner)
                return Planned(statement, source, result=described)
        message = ddl.apply(statement, self.catalogs, source, self._check, self._stand_in)
        return Planned(statement, source, message=message)

    def _create_as(self, statement: s.CreateTable, source: Source) -> Planned:
        """The table exists when the job starts, and not at all if the job is not valid."""
        plan = self.planner.plan(statement)
        [root] = plan.roots
        assert isinstance(root, Sink)
        if may_create(statement, self.catalogs):
            self.catalogs.put(replace(root.table, source=source))
        return Planned(statement, source, plan=plan)

    def _compile(self, statement: s.CompilePlan, source: Source) -> Planned:
        """Without writing the file, which only a session does."""
        if statement.execute and plan_files.exists(statement.path):
            return self._planned(statement, source, plan_files.read(statement.path, statement.span))
        self.planner.plan(statement.statement)
        compiled = compiled_plans.stored(statement, self.catalogs, self.options)
        self._compiled[statement.path] = compiled
        if statement.execute:
            return replace(self._planned(statement, source, compiled), compiled=compiled)
        return Planned(statement, source, f"plan '{statement.path}' compiled", compiled=compiled)

    def _stored(self, path: str, at: Span) -> StoredPlan:
        """A plan by its file, or one that was compiled here but is not to be written."""
        if path in self._compiled and not plan_files.exists(path):
            return self._compiled[path]
        return plan_files.read(path, at)

    def _planned(self, statement: s.Statement, source: Source, stored: StoredPlan) -> Planned:
        """The stored statement, planned with nothing but what is stored with it."""
        options = self.options.with_deciding(stored.options)
        inside = Workspace(traits=self.planner.traits)
        inside.options = options
        inside.planner = replace(inside.planner, options=options)
        for path, script in compiled_plans.definitions_of(stored, "<plan>"):
            inside.catalogs.current_catalog, inside.catalogs.current_database = path
            for definition in script.statements:
                inside.apply(definition, script.source)
        inside.catalogs.current_catalog, inside.catalogs.current_database = stored.path
        for function in compiled_plans.temporal_functions_of(stored):
            inside.declare_temporal_function(function)
        self.functions_of_plans += inside.catalogs.all_functions()
        runnable, script = compiled_plans.statement_of(stored, "<plan>")
        plan = inside.apply(runnable, script.source).plan
        return Planned(statement, source, plan=plan, options=options)

    def _stand_in(self, class_name: str) -> UserFunction | str | None:
        """The function of Python for a class of Java: by an option, by the API, or a known one."""
        named = self.options.get(STAND_IN_PREFIX + class_name)
        return named or self.stand_ins.get(class_name) or known_stand_in(class_name)

    def _check(self, declared: Relation) -> None:
        """An invalid declaration is rejected when it is made, not when it is used."""
        self.planner.relation(declared)
