"""PyFlink's `StreamExecutionEnvironment`: options of programs that run SQL, without DataStreams."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any, Final

from tidemark.catalog.options import CHECKPOINT_INTERVAL, RUNTIME_MODE
from tidemark.errors import NotSupported, TidemarkError
from tidemark.pyflink_programs.common.configuration import Configuration
from tidemark.pyflink_programs.common.jobs import JobClient
from tidemark.pyflink_programs.program_run import has_no_effect

# What configures Flink alone.
_OF_FLINK: Final = re.compile(r"(set|add|enable|disable|register)_\w+")


class RuntimeExecutionMode(Enum):
    """Whether tables are read as streams."""

    STREAMING = 0
    BATCH = 1
    AUTOMATIC = 2


class CheckpointingMode(Enum):
    """What a checkpoint promises."""

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1


class ExternalizedCheckpointRetention(Enum):
    """What happens to the checkpoints of a job that was canceled."""

    DELETE_ON_CANCELLATION = 0
    RETAIN_ON_CANCELLATION = 1
    NO_EXTERNALIZED_CHECKPOINTS = 2


ExternalizedCheckpointCleanup = ExternalizedCheckpointRetention


class _OfFlink:
    """Takes what configures Flink's runtime, and says that it has no effect."""

    def __getattr__(self, name: str) -> Any:
        if not _OF_FLINK.fullmatch(name):
            raise AttributeError(f"{type(self).__name__} has no attribute '{name}'")

        def take(*args: Any, **kwargs: Any) -> _OfFlink:
            has_no_effect(f"{type(self).__name__}.{name}()")
            return self

        return take


class ExecutionConfig(_OfFlink):
    """How Flink runs a job."""


class CheckpointConfig(_OfFlink):
    """How often there is a checkpoint. The folder is chosen where the program is started."""

    def __init__(self, environment: StreamExecutionEnvironment) -> None:
        self._environment = environment

    def set_checkpoint_interval(self, checkpoint_interval: int) -> CheckpointConfig:
        self._environment.enable_checkpointing(checkpoint_interval)
        return self

    def set_checkpointing_mode(self, checkpointing_mode: CheckpointingMode) -> CheckpointConfig:
        """Jobs with a checkpoint are exactly-once in any case."""
        return self


class StreamExecutionEnvironment(_OfFlink):
    """Options for the table environments that are created from it."""

    def __init__(self, configuration: Configuration | None = None) -> None:
        self.configuration = Configuration(configuration)
        # What starts the statement sets that wait for `execute()`.
        self.attached: list[Callable[[], JobClient | None]] = []
        self._parallelism = 1

    @staticmethod
    def get_execution_environment(
        configuration: Configuration | None = None,
    ) -> StreamExecutionEnvironment:
        return StreamExecutionEnvironment(configuration)

    def configure(self, configuration: Configuration) -> None:
        self.configuration.add_all(configuration)

    def set_runtime_mode(self, execution_mode: RuntimeExecutionMode) -> StreamExecutionEnvironment:
        if execution_mode is not RuntimeExecutionMode.AUTOMATIC:
            self.configuration.set_string(RUNTIME_MODE, execution_mode.name.lower())
        return self

    def enable_checkpointing(
        self, interval: int, mode: CheckpointingMode = CheckpointingMode.EXACTLY_ONCE
    ) -> StreamExecutionEnvironment:
        self.configuration.set_string(CHECKPOINT_INTERVAL, f"{interval} ms")
        return self

    def get_checkpoint_config(self) -> CheckpointConfig:
        return CheckpointConfig(self)

    def set_parallelism(self, parallelism: int) -> StreamExecutionEnvironment:
        """Spark has its own: this is only remembered."""
        self._parallelism = parallelism
        return self

    def get_parallelism(self) -> int:
        return self._parallelism

    def add_python_file(self, file_path: str) -> None:
        importable(file_path)

    def get_config(self) -> ExecutionConfig:
        return ExecutionConfig()

    def execute(self, job_name: str | None = None) -> None:
        """Run the statement sets that are attached, to their end."""
        for client in self._started():
            client.get_job_execution_result().result()

    def execute_async(self, job_name: str | None = None) -> JobClient:
        """Start the statement sets that are attached."""
        return self._started()[-1]

    def _started(self) -> list[JobClient]:
        if not self.attached:
            raise TidemarkError(
                "StreamExecutionEnvironment.execute() has nothing to run",
                notes={"why": "jobs of SQL start with execute_sql(), and there are no DataStreams"},
                hint="remove the call; Flink rejects it, too, unless there is a DataStream",
            )
        clients = [start() for start in self.attached]
        self.attached.clear()
        return [client for client in clients if client is not None]

    def __getattr__(self, name: str) -> Any:
        if name in _OF_DATA_STREAMS:
            raise NotSupported(
                f"PyFlink's DataStream API is not supported: {type(self).__name__}.{name}()",
                hint="write it as SQL, or use DataFrames of Spark with tidemark.connect()",
            )
        return super().__getattr__(name)


_OF_DATA_STREAMS: Final = frozenset(
    {"add_source", "create_input", "from_collection", "from_source"}
)


def importable(file_path: str) -> None:
    """Make a file with Python, a folder, or an archive importable here; workers get the modules of
    functions from here.
    """
    path = Path(file_path).resolve()
    folder = path.parent if path.suffix == ".py" else path
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
