"""PyFlink's `EnvironmentSettings` and `TableConfig`: options of a session."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from tidemark.catalog.options import LOCAL_TIME_ZONE, RUNTIME_MODE, STATE_TTL
from tidemark.durations import parse_duration
from tidemark.pyflink_programs.common.configuration import Configuration
from tidemark.pyflink_programs.program_run import current, has_no_effect

if TYPE_CHECKING:
    from tidemark.session.session import Session

# How much code Flink generates in one method.
_CODE_LENGTH: Final = "table.generated-code.max-length"
# How the first catalog of an environment is called, and its database.
BUILT_IN_CATALOG: Final = "table.builtin-catalog-name"
BUILT_IN_DATABASE: Final = "table.builtin-database-name"


class SqlDialect:
    """How SQL is read."""

    DEFAULT = 0
    HIVE = 1


class EnvironmentSettings:
    """Whether tables are streams, and options."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration

    class Builder:
        """Collects the settings."""

        def __init__(self) -> None:
            self._configuration = Configuration()

        def in_batch_mode(self) -> EnvironmentSettings.Builder:
            return self._with(RUNTIME_MODE, "batch")

        def in_streaming_mode(self) -> EnvironmentSettings.Builder:
            return self._with(RUNTIME_MODE, "streaming")

        def use_blink_planner(self) -> EnvironmentSettings.Builder:
            """The only planner that Flink has, for years now."""
            return self

        use_any_planner = use_blink_planner

        def with_configuration(self, config: Configuration) -> EnvironmentSettings.Builder:
            self._configuration.add_all(config)
            return self

        def with_built_in_catalog_name(self, name: str) -> EnvironmentSettings.Builder:
            return self._with(BUILT_IN_CATALOG, name)

        def with_built_in_database_name(self, name: str) -> EnvironmentSettings.Builder:
            return self._with(BUILT_IN_DATABASE, name)

        def _with(self, key: str, value: str) -> EnvironmentSettings.Builder:
            self._configuration.set_string(key, value)
            return self

        def build(self) -> EnvironmentSettings:
            return EnvironmentSettings(self._configuration)

    @staticmethod
    def new_instance() -> EnvironmentSettings.Builder:
        return EnvironmentSettings.Builder()

    @staticmethod
    def in_batch_mode() -> EnvironmentSettings:
        return EnvironmentSettings.new_instance().in_batch_mode().build()

    @staticmethod
    def in_streaming_mode() -> EnvironmentSettings:
        return EnvironmentSettings.new_instance().in_streaming_mode().build()

    def get_built_in_catalog_name(self) -> str:
        return self._configuration.get_string(BUILT_IN_CATALOG, "default_catalog")

    def get_built_in_database_name(self) -> str:
        return self._configuration.get_string(BUILT_IN_DATABASE, "default_database")

    def is_streaming_mode(self) -> bool:
        return self._configuration.get_string(RUNTIME_MODE, "streaming") == "streaming"

    def get_configuration(self) -> Configuration:
        return self._configuration


class _OfSession(Configuration):
    """Options that take effect when they are set."""

    def __init__(self, config: TableConfig) -> None:
        super().__init__()
        self._config = config

    def set_string(self, key: str, value: str) -> Configuration:
        self._config.set(key, value)
        return self

    def to_dict(self) -> dict[str, str]:
        return self._config.to_map()

    def get_string(self, key: str, default_value: str) -> str:
        return self._config.get(key, default_value)


class TableConfig:
    """The options of an environment."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._python_executable: str | None = None

    def set(self, key: str, value: str) -> TableConfig:
        note = self._session.set(key, str(value))
        if note is not None:
            current().note_once(note)
        return self

    def get(self, key: str, default_value: str) -> str:
        return self._session.workspace.options.get(key) or default_value

    def to_map(self) -> dict[str, str]:
        return dict(self._session.workspace.options.items())

    def get_configuration(self) -> Configuration:
        return _OfSession(self)

    def add_configuration(self, configuration: Configuration) -> None:
        for key, value in configuration.to_dict().items():
            self.set(key, value)

    def set_local_timezone(self, timezone_id: str) -> None:
        self.set(LOCAL_TIME_ZONE, timezone_id)

    def get_local_timezone(self) -> str:
        from tidemark.session.local_runs import system_zone

        return self.get(LOCAL_TIME_ZONE, system_zone())

    def set_idle_state_retention(self, duration: timedelta) -> None:
        self.set(STATE_TTL, f"{duration // timedelta(milliseconds=1)} ms")

    def get_idle_state_retention(self) -> timedelta:
        return timedelta(milliseconds=parse_duration(self.get(STATE_TTL, "0 ms")))

    def set_max_generated_code_length(self, max_generated_code_length: int) -> None:
        self.set(_CODE_LENGTH, str(max_generated_code_length))

    def get_max_generated_code_length(self) -> int:
        return int(self.get(_CODE_LENGTH, "4000"))

    def set_sql_dialect(self, sql_dialect: int) -> None:
        if sql_dialect != SqlDialect.DEFAULT:
            self.set("table.sql-dialect", "hive")

    def get_sql_dialect(self) -> int:
        return SqlDialect.DEFAULT

    def set_python_executable(self, python_exec: str) -> None:
        self._python_executable = python_exec
        has_no_effect("TableConfig.set_python_executable()")

    def get_python_executable(self) -> str | None:
        return self._python_executable
