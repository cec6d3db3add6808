"""PyFlink's `TableEnvironment`: a session of Tidemark that runs SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tidemark.catalog.tables import Relation, View
from tidemark.dialect import quoted_name, quoted_string
from tidemark.dialect import statements as s
from tidemark.errors import NotSupported, TidemarkError
from tidemark.pyflink.api.table.types import DataType
from tidemark.pyflink.api.table.udf import Declared, declared_by_itself
from tidemark.pyflink_programs.common.configuration import Configuration
from tidemark.pyflink_programs.common.jobs import JobClient
from tidemark.pyflink_programs.datastream.environment import StreamExecutionEnvironment, importable
from tidemark.pyflink_programs.program_run import current, has_no_effect
from tidemark.pyflink_programs.table.catalog import Catalog, CatalogDescriptor
from tidemark.pyflink_programs.table.compiled_plan import CompiledPlan, PlanReference
from tidemark.pyflink_programs.table.declarations import TableDescriptor
from tidemark.pyflink_programs.table.elements import FEW, elements_of
from tidemark.pyflink_programs.table.expression import Expression
from tidemark.pyflink_programs.table.expression_rows import values_of
from tidemark.pyflink_programs.table.results import TableResult
from tidemark.pyflink_programs.table.settings import (
    BUILT_IN_CATALOG,
    BUILT_IN_DATABASE,
    EnvironmentSettings,
    TableConfig,
)
from tidemark.pyflink_programs.table.sql_runner import SqlRunner, the_statement
from tidemark.pyflink_programs.table.statement_set import StatementSet
from tidemark.pyflink_programs.table.table import Table

if TYPE_CHECKING:
    import pandas as pd


_TO_STREAM: Final = "print the table with execute().print(), or write it with execute_insert()"
_FROM_STREAM: Final = "use from_elements(), or declare the source with CREATE TABLE"
_OF_DATA_STREAMS: Final = {
    **dict.fromkeys(
        ("to_data_stream", "to_changelog_stream", "to_append_stream", "to_retract_stream"),
        _TO_STREAM,
    ),
    **dict.fromkeys(("from_data_stream", "from_changelog_stream"), _FROM_STREAM),
}


class TableEnvironment:
    """Runs SQL; `create()` makes one."""

    def __init__(self, configuration: Configuration) -> None:
        self._session = current().session()
        self._runner = SqlRunner(self._session)
        self._config = TableConfig(self._session)
        options = configuration.to_dict()
        catalog = options.pop(BUILT_IN_CATALOG, self.get_current_catalog())
        database = options.pop(BUILT_IN_DATABASE, self.get_current_database())
        for key, value in options.items():
            self._config.set(key, value)
        self._use_built_in(catalog, database)

    @staticmethod
    def create(environment_settings: EnvironmentSettings | Configuration) -> TableEnvironment:
        return TableEnvironment(_configuration(environment_settings))

    def _use_built_in(self, catalog: str, database: str) -> None:
        if catalog != self.get_current_catalog():
            options = (
                f"'type' = 'generic_in_memory', 'default-database' = {quoted_string(database)}"
            )
            self._session.sql(f"CREATE CATALOG {quoted_name(catalog)} WITH ({options})")
            self.use_catalog(quoted_name(catalog))
        elif database != self.get_current_database():
            self._session.sql(f"CREATE DATABASE {quoted_name(database)}")
            self.use_database(quoted_name(database))

    # --- SQL -----------------------------------------------------------------------------------

    def execute_sql(self, stmt: str) -> TableResult:
        """Run one statement. A job starts; a query starts when its rows are asked for."""
        return self._runner.execute(stmt)

    def sql_query(self, query: str) -> Table:
        statement, text = the_statement(query)
        if not isinstance(statement, s.Query):
            raise TidemarkError(
                "sql_query() takes a query", hint="run other statements with execute_sql()"
            )
        return self._table(text)

    def explain_sql(self, stmt: str, *extra_details: str) -> str:
        return self._runner.explain(stmt, *extra_details)

    def compile_plan_sql(self, stmt: str) -> CompiledPlan:
        return CompiledPlan.of(the_statement(stmt)[1], self._runner)

    def load_plan(self, plan_reference: PlanReference) -> CompiledPlan:
        return CompiledPlan(plan_reference.text(), self._runner)

    def execute_plan(self, plan_reference: PlanReference) -> TableResult:
        return self.load_plan(plan_reference).execute()

    def create_statement_set(self) -> StatementSet:
        return StatementSet(self._runner, self._attach)

    def _attach(self, start: Callable[[], JobClient | None]) -> None:
        raise NotSupported("attach_as_datastream() belongs to a StreamTableEnvironment")

    def _table(self, query: str) -> Table:
        return Table(query, self._runner)

    # --- tables --------------------------------------------------------------------------------

    def from_path(self, path: str) -> Table:
        return self._table(f"SELECT * FROM {path}")

    def scan(self, *table_path: str) -> Table:
        return self.from_path(".".join(map(quoted_name, table_path)))

    def from_descriptor(self, descriptor: TableDescriptor) -> Table:
        name = self._runner.unnamed()
        self.create_temporary_table(name, descriptor)
        return self.from_path(name)

    def from_elements(
        self,
        elements: Iterable[Any],
        schema: DataType | Sequence[str] | None = None,
        verify_schema: bool = True,
    ) -> Table:
        """A table of these rows; types are verified in any case."""
        elements = list(elements)
        if elements and all(isinstance(element, Expression) for element in elements):
            return self._table(values_of(elements, schema))
        found = elements_of(elements, schema)
        rows = found.arrow() if len(found.rows) > FEW else None
        if rows is None:
            return self._table(found.values)
        name = self._runner.unnamed()
        self._session.register(name, rows)
        self._runner.hidden.add(name)
        return self._table(found.of_table(name))

    def from_pandas(
        self,
        pdf: pd.DataFrame,
        schema: DataType | Sequence[str] | Sequence[DataType] | None = None,
        splits_num: int = 1,
    ) -> Table:
        from tidemark.pyflink_programs.table.frames import select

        name = self._runner.unnamed()
        self._session.register(name, pdf)
        self._runner.hidden.add(name)
        return self._table(select(name, list(map(str, pdf.columns)), schema))

    def create_temporary_view(
        self, view_path: str, table_or_data_stream: Table, *fields_or_schema: Any
    ) -> None:
        if not isinstance(table_or_data_stream, Table):
            raise TypeError("create_temporary_view() takes a Table here; there are no DataStreams")
        self._session.sql(f"CREATE TEMPORARY VIEW {view_path} AS\n{table_or_data_stream._query}")

    def create_view(self, view_path: str, table: Table, ignore_if_exists: bool = False) -> bool:
        exists = "IF NOT EXISTS " if ignore_if_exists else ""
        self._session.sql(f"CREATE VIEW {exists}{view_path} AS\n{table._query}")
        return True

    def create_temporary_table(
        self, path: str, descriptor: TableDescriptor, ignore_if_exists: bool = False
    ) -> None:
        self._session.sql(descriptor.ddl(path, temporary=True, if_not_exists=ignore_if_exists))

    def create_table(
        self, path: str, descriptor: TableDescriptor, ignore_if_exists: bool = False
    ) -> bool:
        self._session.sql(descriptor.ddl(path, temporary=False, if_not_exists=ignore_if_exists))
        return True

    def drop_temporary_view(self, view_path: str) -> bool:
        return self._drop("TEMPORARY VIEW", view_path)

    def drop_temporary_table(self, table_path: str) -> bool:
        return self._drop("TEMPORARY TABLE", table_path)

    def drop_view(self, view_path: str, ignore_if_not_exists: bool = True) -> bool:
        return self._drop("VIEW", view_path, must_exist=not ignore_if_not_exists)

    def drop_table(self, table_path: str, ignore_if_not_exists: bool = True) -> bool:
        return self._drop("TABLE", table_path, must_exist=not ignore_if_not_exists)

    def _drop(self, kind: str, path: str, *, must_exist: bool = False) -> bool:
        """Drop something. Returns whether it was there."""
        try:
            self._session.sql(f"DROP {kind} {path}")
        except TidemarkError:
            if must_exist:
                raise
            self._session.sql(f"DROP {kind} IF EXISTS {path}")
            return False
        return True

    # --- functions -----------------------------------------------------------------------------

    def create_temporary_function(self, path: str, function: Declared) -> None:
        """Functions of one session: what they are called does not depend on the database."""
        self._session.create_function(path.rpartition(".")[2].strip("`"), _declared(function))

    create_temporary_system_function = create_temporary_function
    register_function = create_temporary_function

    def create_java_temporary_function(self, path: str, function_class_name: str) -> None:
        java = f"{quoted_string(function_class_name)} LANGUAGE JAVA"
        self._session.sql(f"CREATE TEMPORARY FUNCTION {path} AS {java}")

    create_java_temporary_system_function = create_java_temporary_function
    create_java_function = create_java_temporary_function

    def drop_temporary_function(self, path: str) -> bool:
        return self._drop("TEMPORARY FUNCTION", path)

    drop_temporary_system_function = drop_temporary_function

    def drop_function(self, path: str) -> bool:
        return self._drop("FUNCTION", path)

    # --- catalogs ------------------------------------------------------------------------------

    def create_catalog(self, catalog_name: str, catalog_descriptor: CatalogDescriptor) -> None:
        self._session.sql(catalog_descriptor.ddl(catalog_name))

    def get_catalog(self, catalog_name: str) -> Catalog | None:
        found = self._session.workspace.catalogs.catalogs.get(catalog_name)
        if found is None:
            return None
        return Catalog(catalog_name, found.default_database, self._listed, self._temporary_names)

    def _temporary_names(self, catalog: str, database: str) -> set[str]:
        temporary = self._session.workspace.catalogs.temporary
        return {n.name for n in temporary if (n.catalog, n.database) == (catalog, database)}

    def get_current_catalog(self) -> str:
        return self._session.workspace.catalogs.current_catalog

    def get_current_database(self) -> str:
        return self._session.workspace.catalogs.current_database

    def use_catalog(self, catalog_name: str) -> None:
        self._session.sql(f"USE CATALOG {catalog_name}")

    def use_database(self, database_name: str) -> None:
        self._session.sql(f"USE {database_name}")

    def list_catalogs(self) -> list[str]:
        return self._listed("SHOW CATALOGS")

    def list_databases(self) -> list[str]:
        return self._listed("SHOW DATABASES")

    def list_tables(self) -> list[str]:
        return [name for name in self._listed("SHOW TABLES") if name not in self._runner.hidden]

    def list_views(self) -> list[str]:
        return self._listed("SHOW VIEWS")

    def list_temporary_tables(self) -> list[str]:
        """Views as well, as in Flink."""
        return self._temporary(lambda _: True)

    def list_temporary_views(self) -> list[str]:
        return self._temporary(lambda relation: isinstance(relation, View))

    def _temporary(self, wanted: Callable[[Relation], bool]) -> list[str]:
        here = self.get_current_catalog(), self.get_current_database()
        temporary = self._session.workspace.catalogs.temporary
        found = (name for name, relation in temporary.items() if wanted(relation))
        names = sorted(name.name for name in found if (name.catalog, name.database) == here)
        return [name for name in names if name not in self._runner.hidden]

    def list_modules(self) -> list[str]:
        return self._listed("SHOW MODULES")

    def list_full_modules(self) -> list[ModuleEntry]:
        rows = self._session.sql("SHOW FULL MODULES").rows()
        return [ModuleEntry(*row.values()) for row in rows]

    def use_modules(self, *module_names: str) -> None:
        self._session.sql(f"USE MODULES {', '.join(map(quoted_name, module_names))}")

    def unload_module(self, module_name: str) -> None:
        self._session.sql(f"UNLOAD MODULE {quoted_name(module_name)}")

    def list_functions(self) -> list[str]:
        return self._functions("SHOW FUNCTIONS")

    def list_user_defined_functions(self) -> list[str]:
        return self._functions("SHOW USER FUNCTIONS")

    def _functions(self, stmt: str) -> list[str]:
        """Without those that the program has not named itself."""
        return [name for name in self._listed(stmt) if not self._runner.has_named(name)]

    def _listed(self, stmt: str) -> list[str]:
        rows = self._session.sql(stmt).rows()
        return sorted(str(value) for row in rows for value in row.values())

    # --- the rest ------------------------------------------------------------------------------

    def get_config(self) -> TableConfig:
        return self._config

    def add_python_file(self, file_path: str) -> None:
        importable(file_path)

    def __getattr__(self, name: str) -> Any:
        if name in _OF_DATA_STREAMS:
            raise NotSupported(
                f"PyFlink's DataStream API is not supported: {type(self).__name__}.{name}()",
                hint=_OF_DATA_STREAMS[name],
            )
        raise AttributeError(f"{type(self).__name__}.{name} of PyFlink is not part of Tidemark")

    def add_python_archive(self, archive_path: str, target_dir: str | None = None) -> None:
        has_no_effect("TableEnvironment.add_python_archive()")

    def set_python_requirements(
        self, requirements_file_path: str, requirements_cache_dir: str | None = None
    ) -> None:
        has_no_effect("TableEnvironment.set_python_requirements()")


@dataclass(frozen=True)
class ModuleEntry:
    """A module, and whether its functions are found."""

    _name: str
    _used: bool

    def name(self) -> str:
        return self._name

    def used(self) -> bool:
        return self._used

    def __repr__(self) -> str:
        return f"ModuleEntry{{name='{self._name}', used={str(self._used).lower()}}}"


class StreamTableEnvironment(TableEnvironment):
    """A table environment with the options of a stream environment."""

    def __init__(self, stream: StreamExecutionEnvironment, configuration: Configuration) -> None:
        super().__init__(configuration)
        self._stream = stream

    def _attach(self, start: Callable[[], JobClient | None]) -> None:
        self._stream.attached.append(start)

    @staticmethod
    def create(  # type: ignore[override]
        stream_execution_environment: StreamExecutionEnvironment | None = None,
        environment_settings: EnvironmentSettings | None = None,
    ) -> StreamTableEnvironment:
        stream = stream_execution_environment or StreamExecutionEnvironment()
        configuration = Configuration(stream.configuration)
        if environment_settings is not None:
            configuration.add_all(_configuration(environment_settings))
        return StreamTableEnvironment(stream, configuration)


def _configuration(given: EnvironmentSettings | Configuration) -> Configuration:
    return given.get_configuration() if isinstance(given, EnvironmentSettings) else given


def _declared(function: Any) -> Callable[..., Any]:
    function = declared_by_itself(function)
    if not isinstance(function, Declared):
        raise TypeError("a function must be declared with udf(), udtf() or udaf()")
    return function
