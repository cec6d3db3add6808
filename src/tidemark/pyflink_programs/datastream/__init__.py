"""What is imported as `pyflink.datastream`: an environment for programs that run SQL."""

from tidemark.pyflink_programs.datastream.environment import (
    CheckpointConfig,
    CheckpointingMode,
    ExternalizedCheckpointCleanup,
    ExternalizedCheckpointRetention,
    RuntimeExecutionMode,
    StreamExecutionEnvironment,
)
from tidemark.pyflink_programs.datastream.state_backends import (
    EmbeddedRocksDBStateBackend,
    FileSystemCheckpointStorage,
    HashMapStateBackend,
)

__all__ = [
    "CheckpointConfig",
    "CheckpointingMode",
    "EmbeddedRocksDBStateBackend",
    "ExternalizedCheckpointCleanup",
    "ExternalizedCheckpointRetention",
    "FileSystemCheckpointStorage",
    "HashMapStateBackend",
    "RuntimeExecutionMode",
    "StreamExecutionEnvironment",
]
