"""How long a random search takes: a moment in each run of the tests, far longer in `make test-deep`.

A search has no deadline and no example is too slow: how fast the machine is, is not what it asks.
"""

from __future__ import annotations

from typing import Any, Final

from hypothesis import HealthCheck, settings

DEEP: Final = "deep"
# `.ci/run` tries the same examples each time, so that a change fails by what it has changed; and not
# as many, because each change waits for them.
STEADY: Final = "steady"
QUICK: Final = "quick"
_TIMES_AS_MANY = {STEADY: 0.25, DEEP: 50}
_EXAMPLES = 40


def register_profiles() -> None:
    """The profiles that `--hypothesis-profile` can name."""
    for name in (QUICK, STEADY, DEEP):
        settings.register_profile(
            name,
            max_examples=_times(name, _EXAMPLES),
            deadline=None,
            derandomize=name == STEADY,
            suppress_health_check=[HealthCheck.too_slow],
            print_blob=True,
        )
    settings.load_profile(QUICK)


def searched(examples: int = _EXAMPLES, **others: Any) -> settings:
    """Settings of a search that tries so many examples in each run of the tests."""
    return settings(max_examples=_times(settings.get_current_profile_name(), examples), **others)


def _times(profile: str | None, examples: int) -> int:
    return max(1, round(examples * _TIMES_AS_MANY.get(profile or "", 1)))
