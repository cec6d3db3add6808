"""Functions that are known by name: importing the module with their code."""

from __future__ import annotations

import importlib
import sys
import traceback
from dataclasses import replace
from typing import Any

from tidemark.catalog.tables import UserFunction
from tidemark.catalog.user_functions import accumulates, declare
from tidemark.errors import PlanError, Span, did_you_mean
from tidemark.pyflink.importing import enable


def resolved(function: UserFunction, at: Span | None = None) -> UserFunction:
    """The function with its code and result type; imports it if only its name is known."""
    if function.implementation is None:
        loaded = declare(function.name, code_of(function, at), at=at)
        function = replace(
            loaded,
            identifier=function.identifier,
            temporary=function.temporary,
            system=function.system,
        )
    if function.returns is None:
        raise PlanError(
            f"the result type of function `{function.name}` is unknown",
            at=at,
            hint='annotate the function (`-> str`), or declare it with returns="STRING"',
        )
    return function


def module_of(function: UserFunction) -> str:
    """The module that contains a function's code, loaded or not."""
    if function.identifier is not None:
        return function.identifier.rpartition(".")[0]
    code = function.implementation
    return str(getattr(code, "__module__", None) or type(code).__module__)


def code_of(function: UserFunction, at: Span | None) -> Any:
    module, _, attribute = (function.identifier or "").rpartition(".")
    if not module:
        raise PlanError(
            f"function `{function.name}` cannot be loaded from '{function.identifier}'",
            at=at,
            hint="write AS 'module.function'",
        )
    loaded = _imported(module, function, at)
    found = getattr(loaded, attribute, None)
    if found is None:
        raise PlanError(
            f"function `{function.name}` cannot be loaded: module `{module}` has no `{attribute}`",
            at=at,
            notes={"module": getattr(loaded, "__file__", None) or module},
            hint=did_you_mean(attribute, (n for n in vars(loaded) if not n.startswith("_"))),
        )
    if not callable(found) and not accumulates(found):
        raise PlanError(f"'{function.identifier}' is not a function", at=at)
    return found


def _imported(module: str, function: UserFunction, at: Span | None) -> Any:
    importlib.invalidate_caches()
    # The module may have been written for PyFlink.
    enable()
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as problem:
        missing = problem.name or ""
        if not f"{module}.".startswith(f"{missing}."):
            raise _import_failed(module, function, problem, at) from problem
        raise PlanError(
            f"function `{function.name}` cannot be loaded: there is no module `{missing}`",
            at=at,
            hint=f"put {module.replace('.', '/')}.py beside the script or in the working folder, "
            "or install it",
        ) from problem
    except Exception as problem:
        raise _import_failed(module, function, problem, at) from problem


def _import_failed(
    module: str, function: UserFunction, problem: Exception, at: Span | None
) -> PlanError:
    """The module exists, but its own code fails."""
    frames = traceback.extract_tb(problem.__traceback__)
    own = [f for f in frames if "importlib" not in f.filename and f.filename != __file__]
    where = {"at": f"{own[-1].filename}:{own[-1].lineno}"} if own else {}
    missing = problem.name if isinstance(problem, ModuleNotFoundError) else None
    return PlanError(
        f"function `{function.name}` cannot be loaded: importing `{module}` fails with "
        f"{type(problem).__name__}: {problem}",
        at=at,
        notes=where,
        hint=f"install `{missing}` for {sys.executable}" if missing else None,
    )
