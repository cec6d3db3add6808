"""How `import pyflink...` finds Tidemark's modules.

What functions need is in `tidemark.pyflink.api`, and what whole programs need in
`tidemark.pyflink_programs`, which builds on all of Tidemark. So it is known here by name only, and
loaded when a program asks for something in it. Workers only ask for functions.

PyFlink and PySpark require different versions of Py4J, so PyFlink itself cannot be installed here.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, NoReturn

_FUNCTIONS = "tidemark.pyflink.api"
_PROGRAMS = "tidemark.pyflink_programs"


def enable() -> None:
    """Make `pyflink` importable in this process."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        top, _, rest = fullname.partition(".")
        if top != "pyflink":
            return None
        # Every name is a package: modules below it may be imported.
        return ModuleSpec(fullname, _Loader(rest), is_package=True)


class _Loader(Loader):
    """Gives a module of `pyflink` the names of ours, and placeholders for all others."""

    def __init__(self, rest: str) -> None:
        self._rest = rest

    def exec_module(self, module: ModuleType) -> None:
        ours = _module(f"{_FUNCTIONS}.{self._rest}".rstrip("."))
        if ours is not None:
            module.__dict__.update({k: v for k, v in vars(ours).items() if not k.startswith("_")})

        def missing(attribute: str) -> Any:
            found = self._found(module, attribute)
            setattr(module, attribute, found)
            return found

        module.__dict__["__getattr__"] = missing

    def _found(self, module: ModuleType, attribute: str) -> Any:
        programs = _module(f"{_PROGRAMS}.{self._rest}") if self._rest else None
        if attribute == "__all__":  # import *
            names = {name for name in vars(module) if not name.startswith("_")}
            return sorted(names | set(getattr(programs, "__all__", ())))
        if attribute.startswith("_"):
            raise AttributeError(f"module {module.__name__!r} has no attribute {attribute!r}")
        if attribute in getattr(programs, "__all__", ()):
            return getattr(programs, attribute)
        return placeholder(module.__name__, attribute)


def _module(name: str) -> ModuleType | None:
    try:
        there = importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        there = False
    return importlib.import_module(name) if there else None


def placeholder(module: str, name: str) -> type:
    """Something of PyFlink that is not part of Tidemark.

    A module with functions is often a program as well, and imports what that needs, too. The import
    works; using the name fails.
    """
    return _Unusable(name, (), {"__module__": module, "__qualname__": name})


class _Unusable(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise cls._error()

    def __getattr__(cls, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        raise cls._error()

    def _error(cls) -> Exception:
        return NotImplementedError(
            f"{cls.__module__}.{cls.__qualname__} is not part of Tidemark, which runs functions "
            "and SQL that were written for PyFlink"
        )
