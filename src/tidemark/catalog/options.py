"""Options of a session: `SET 'key' = 'value'`, checked by name and type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from zoneinfo import ZoneInfo, available_timezones

from tidemark.durations import parse_duration
from tidemark.errors import OptionError, Span, did_you_mean


@dataclass(frozen=True, slots=True)
class SessionOption:
    """One key: how its text is checked, and whether it changes anything here."""

    key: str
    check: Callable[[str], object]
    summary: str
    default: str | None = None


def _text(value: str) -> str:
    return value


def _boolean(value: str) -> bool:
    if value.lower() not in ("true", "false"):
        raise ValueError("expected true or false")
    return value.lower() == "true"


def _positive(value: str) -> int:
    number = int(value)
    if number < 1:
        raise ValueError("expected a number above zero")
    return number


def _zone(value: str) -> str:
    if value in available_timezones():
        return value
    if value.upper().startswith(("GMT", "UTC")) or value.startswith(("+", "-")):
        return value
    try:
        ZoneInfo(value)
    except (ValueError, OSError, KeyError):
        hint = did_you_mean(value, available_timezones())
        raise ValueError(f"not a time zone{'; ' + hint if hint else ''}") from None
    return value


def _one_of(*choices: str) -> Callable[[str], str]:
    def check(value: str) -> str:
        if value.lower() not in choices:
            raise ValueError(f"expected one of {', '.join(choices)}")
        return value.lower()

    return check


RUNTIME_MODE = "execution.runtime-mode"
LOCAL_TIME_ZONE = "table.local-time-zone"
STATE_TTL = "table.exec.state.ttl"
CHECKPOINT_INTERVAL = "execution.checkpointing.interval"
JOB_NAME = "pipeline.name"

OPTIONS = (
    SessionOption(
        RUNTIME_MODE, _one_of("streaming", "batch"), "how queries run", default="streaming"
    ),
    SessionOption(LOCAL_TIME_ZONE, _zone, "the zone that TIMESTAMP_LTZ values are shown in"),
    SessionOption(JOB_NAME, _text, "a name for the jobs started next"),
    SessionOption(
        CHECKPOINT_INTERVAL,
        parse_duration,
        "the shortest time between two micro-batches of an unbounded job",
    ),
    SessionOption(STATE_TTL, parse_duration, "how long idle state is kept; 0 keeps it"),
    SessionOption("table.exec.emit.early-fire.enabled", _boolean, "windows show early results"),
    SessionOption("table.exec.emit.early-fire.delay", parse_duration, "how often they do"),
    SessionOption("table.exec.emit.late-fire.enabled", _boolean, "windows show late results"),
    SessionOption("table.exec.emit.late-fire.delay", parse_duration, "how often they do"),
    SessionOption("table.exec.emit.allow-lateness", parse_duration, "how late rows may be"),
    SessionOption(
        "table.exec.interval-join.min-cleanup-interval", _text, "how long expired rows are kept"
    ),
    SessionOption("parallelism.default", _positive, "the number of key buckets of stateful jobs"),
    SessionOption(
        "pipeline.auto-watermark-interval",
        parse_duration,
        "accepted; watermarks move with every row or micro-batch here",
    ),
    SessionOption("table.dml-sync", _boolean, "INSERT waits until its job has ended"),
    SessionOption(
        "table.exec.source.idle-timeout", parse_duration, "when a silent source counts as idle"
    ),
    SessionOption("table.exec.mini-batch.enabled", _boolean, "accepted; batches are always small"),
    SessionOption("table.exec.mini-batch.allow-latency", parse_duration, "accepted"),
    SessionOption("table.exec.mini-batch.size", _positive, "accepted"),
    SessionOption("table.sql-dialect", _one_of("default"), "Flink's own dialect is the only one"),
)

# Settings of Flink's own runtime and of its SQL client: a script that sets them runs
# unchanged, and they have nothing to change on Spark.
WITHOUT_EFFECT = (
    "cluster.",
    "execution.attached",
    "execution.buffer-timeout",
    "execution.checkpointing.",
    "execution.shutdown-on-attached-exit",
    "execution.target",
    "high-availability.",
    "jobmanager.",
    "kubernetes.",
    "metrics.",
    "pipeline.",
    "python.",
    "rest.",
    "restart-strategy",
    "security.",
    "sql-client.",
    "state.",
    "table.exec.resource.",
    "table.exec.sink.",
    "table.exec.async-",
    "table.optimizer.",
    "table.plan.",
    "taskmanager.",
    "yarn.",
)

SPARK_PREFIX = "spark."

_BY_KEY = {option.key: option for option in OPTIONS}


class SessionOptions:
    """The options of one session; `spark.*` keys are kept for Spark."""

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._values: dict[str, str] = {}
        self._initial: dict[str, str] = {}
        for key, value in (values or {}).items():
            self.set(key, value)
        self._initial = dict(self._values)

    def set(self, key: str, value: str, at: Span | None = None) -> str | None:
        """Set an option. Returns a note if the key is known and changes nothing here."""
        option = _BY_KEY.get(key)
        if option is not None:
            try:
                option.check(value)
            except ValueError as problem:
                raise OptionError(
                    f"option '{key}' cannot be '{value}': {problem}",
                    at=at,
                    notes={key: option.summary},
                ) from None
        elif not key.startswith((SPARK_PREFIX, *WITHOUT_EFFECT)):
            raise OptionError(f"unknown option '{key}'", at=at, hint=did_you_mean(key, _BY_KEY))
        self._values[key] = value
        ignored = option is None and not key.startswith(SPARK_PREFIX)
        return f"'{key}' configures Flink's runtime and has no effect here" if ignored else None

    def reset(self, key: str | None = None) -> None:
        if key is None:
            self._values = dict(self._initial)
        elif key in self._initial:
            self._values[key] = self._initial[key]
        else:
            self._values.pop(key, None)

    def get(self, key: str) -> str | None:
        option = _BY_KEY.get(key)
        return self._values.get(key, option.default if option else None)

    def milliseconds(self, key: str) -> int | None:
        """The value of a duration option."""
        value = self.get(key)
        return None if value is None else parse_duration(value)

    @property
    def batch(self) -> bool:
        return (self.get(RUNTIME_MODE) or "").lower() == "batch"

    def items(self) -> list[tuple[str, str]]:
        return sorted(self._values.items())

    def spark(self) -> dict[str, str]:
        return {k: v for k, v in self._values.items() if k.startswith(SPARK_PREFIX)}
