"""Values of the library, made once in each worker: rows choose from them."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import pyarrow as pa

_TRIES: Final = 2000


@lru_cache(None)
def pool(method: str) -> pa.Array:
    """Different values of a method, always the same ones."""
    library = _library()
    library.seed_instance(method)
    make = getattr(library, method)
    found = dict.fromkeys(str(_first(make())) for _ in range(_TRIES))
    return pa.array(found, pa.large_string())


def _first(value: object) -> object:
    """A currency is a pair of its code and name, which other methods have one by one."""
    return value[0] if isinstance(value, tuple) else value


@lru_cache(1)
def _library():  # type: ignore[no-untyped-def]
    from faker import Faker

    return Faker("en_US", use_weighting=False)
