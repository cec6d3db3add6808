"""Random searches go as far as the profile says, and never fail because a machine is slow."""

import pytest
from hypothesis import HealthCheck, settings

from tests.searching import DEEP, QUICK, STEADY, searched


@pytest.fixture
def profile():
    """Lets a test choose the profile, and puts back the one that the run has."""
    before = settings.get_current_profile_name()
    yield settings.load_profile
    settings.load_profile(before)


@pytest.mark.parametrize("name", [QUICK, STEADY, DEEP])
def test_no_search_is_stopped_by_a_clock(profile, name):
    profile(name)

    for search in (settings(), searched(10)):
        assert search.deadline is None
        assert HealthCheck.too_slow in search.suppress_health_check


@pytest.mark.parametrize(
    ("name", "of_thirty", "of_others"), [(STEADY, 8, 10), (QUICK, 30, 40), (DEEP, 1500, 2000)]
)
def test_a_deep_search_tries_far_more_examples(profile, name, of_thirty, of_others):
    profile(name)

    assert (searched(30).max_examples, settings().max_examples) == (of_thirty, of_others)


def test_only_a_steady_search_is_the_same_each_time(profile):
    def derandomized(name):
        profile(name)
        return searched().derandomize

    assert {name: derandomized(name) for name in (QUICK, STEADY, DEEP)} == {
        QUICK: False,
        STEADY: True,
        DEEP: False,
    }
