"""Which tests run for each change, and which of their kind are thorough.

On Spark a test takes as many seconds as it has micro-batches, and most of that is Spark's own work. So for
each change, every operator, connector and kind of restart is run on Spark once or twice; what the
operators compute is compared without it, over random data. Tests of the same ways through Spark are
marked `thorough`: they run in `make test-all`, and whenever they are named.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TypeVar

import pytest
from _pytest.mark import ParameterSet

T = TypeVar("T")


def parameters(values: Mapping[str, T], *, often: Collection[str]) -> list[ParameterSet]:
    """Values, or tuples of several, with their names, for `parametrize`: those named `often` are for
    each change."""
    unknown = set(often) - values.keys()
    if unknown:
        raise ValueError(f"there is no {', '.join(sorted(unknown))}")
    return [_parameter(name, value, name in often) for name, value in values.items()]


def names(all_names: Iterable[str], *, often: Collection[str]) -> list[ParameterSet]:
    """The same where the name is the value."""
    return parameters({name: name for name in all_names}, often=often)


def _parameter(name: str, value: object, often: bool) -> ParameterSet:
    values = value if isinstance(value, tuple) else (value,)
    return pytest.param(*values, id=name, marks=() if often else pytest.mark.thorough)
