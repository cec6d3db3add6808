"""Tests of the planner, and what tests elsewhere borrow from them."""

import pytest

pytest.register_assert_rewrite("tests.plan.marked")
