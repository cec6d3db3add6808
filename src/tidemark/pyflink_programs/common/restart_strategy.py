"""What is imported as `pyflink.common.restart_strategy`: how Flink restarts jobs.

Programs choose it. Here, a job that was killed is started again by whoever started it.
"""

from __future__ import annotations

from typing import Any

__all__ = ["RestartStrategies"]


class RestartStrategies:
    """Makes strategies, which are passed on."""

    @staticmethod
    def no_restart() -> tuple[Any, ...]:
        return ("no_restart",)

    @staticmethod
    def fall_back_restart() -> tuple[Any, ...]:
        return ("fall_back_restart",)

    @staticmethod
    def fixed_delay_restart(restart_attempts: int, delay_between_attempts: int) -> tuple[Any, ...]:
        return "fixed_delay_restart", restart_attempts, delay_between_attempts

    @staticmethod
    def failure_rate_restart(
        failure_rate: int, failure_interval: int, delay_interval: int
    ) -> tuple[Any, ...]:
        return "failure_rate_restart", failure_rate, failure_interval, delay_interval
