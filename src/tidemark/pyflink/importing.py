"""How `import pyflink...` finds the modules of `tidemark.pyflink.api`.

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

_OURS = "tidemark.pyflink.api"


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
        return ModuleSpec(fullname, _Loader(f"{_OURS}.{rest}".rstrip(".")), is_package=True)


class _Loader(Loader):
    """Gives a module of `pyflink` the names of ours, and placeholders for all others."""

    def __init__(self, ours: str) -> None:
        self._ours = ours

    def exec_module(self, module: ModuleType) -> None:
        if _exists(self._ours):
            ours = importlib.import_module(self._ours)
            module.__dict__.update({k: v for k, v in vars(ours).items() if not k.startswith("_")})
        name = module.__name__

        def missing(attribute: str) -> Any:
            if attribute.startswith("_"):
                raise AttributeError(f"module {name!r} has no attribute {attribute!r}")
            made = placeholder(name, attribute)
            setattr(module, attribute, made)
            return made

        module.__dict__["__getattr__"] = missing


def _exists(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def placeholder(module: str, name: str) -> type:
    """Something of PyFlink that functions do not need.

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
            f"{cls.__module__}.{cls.__qualname__} is not part of Tidemark, which only runs the "
            "functions that were written for PyFlink"
        )
