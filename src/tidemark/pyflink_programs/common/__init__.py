"""What is imported as `pyflink.common`, besides what functions need."""

from tidemark.pyflink_programs.common.configuration import Configuration
from tidemark.pyflink_programs.common.jobs import JobClient, JobStatus
from tidemark.pyflink_programs.common.restart_strategy import RestartStrategies

__all__ = ["Configuration", "JobClient", "JobStatus", "RestartStrategies"]
