"""Imports point downwards only, and each layer knows only the libraries it is about."""

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "tidemark"

# From the bottom up; a layer may import itself and those before it. Layers on one line do not
# know each other.
ORDER = (
    ("redaction",),
    ("errors", "durations", "zones"),
    ("unsupported", "pyflink"),
    ("kernels", "types"),
    ("functions", "runtime", "schema_registry"),
    ("formats",),
    ("dialect",),
    ("catalog",),
    ("plan",),
    ("columns",),
    ("physical",),
    ("operators",),
    ("storage",),
    ("checkpoints",),
    ("rows",),
    ("spark",),
    ("connectors",),
    ("local",),
    ("windows",),
    ("session",),
    ("pyflink_programs",),
    ("testing",),
    ("cli", "ui"),
    ("__main__",),
)
# Deliberate exceptions: kernels are below everything, but know nothing of SQL's types either.
KNOWS_ONLY = {
    "kernels": {"errors"},
    "runtime": {"errors", "kernels"},
    "schema_registry": {"errors"},
    "durations": set(),
    "zones": set(),
    "errors": {"redaction"},
    "pyflink": set(),
}

# Third-party libraries by layer; without an entry, none.
LIBRARIES = {
    "kernels": {"polars", "pyarrow", "numpy"},
    "runtime": {"polars", "pyarrow", "numpy"},
    "functions": {"pyarrow"},
    "formats": {"google", "msgspec", "polars", "pyarrow", "numpy"},
    "schema_registry": {"cryptography"},
    "dialect": {"sqlglot"},
    "catalog": {"sqlglot"},
    "plan": {"sqlglot"},
    "columns": {"polars", "pyarrow", "numpy"},
    "operators": {"polars"},
    "pyflink": {"pandas", "pyarrow"},
    "storage": {"pyarrow"},
    "spark": {"pyspark", "pyarrow", "pandas", "polars", "numpy"},
    "connectors": {
        "pyspark",
        "pyarrow",
        "polars",
        "numpy",
        "faker",
        "confluent_kafka",
        "adbc_driver_postgresql",
        "adbc_driver_manager",
        "pymysql",
        "deltalake",
        "pyiceberg",
    },
    "local": {"polars", "pyarrow"},
    # Live tables are drawn in terminals and, where there is IPython, in notebooks.
    "session": {
        "pyspark",
        "pyarrow",
        "polars",
        "pandas",
        "sqlglot",
        "rich",
        "IPython",
        "prometheus_client",
    },
    "pyflink_programs": {"pandas", "pyarrow", "pyspark"},
    "cli": {"typer", "click", "rich", "prompt_toolkit", "pygments", "packaging"},
}
# Too slow to load before a statement needs them: never while a module is being imported.
LATE = {
    "pyspark",
    "pandas",
    "polars",
    "pyarrow",
    "numpy",
    "adbc_driver_postgresql",
    "adbc_driver_manager",
    "pymysql",
}
# Only ever loaded by the workers, or by functions that run on them.
LOADED_ON_WORKERS = {
    "columns",
    "connectors/datagen/made",
    "connectors/faker/made",
    "connectors/made_rows/columns",
    "connectors/nexmark/made",
    "connectors/mysql_cdc/columns",
    "connectors/postgres_cdc/columns",
    "formats",
    "kernels",
    "local",
    "runtime",
    "spark/stateful",
}


class Import(NamedTuple):
    path: Path
    line: int
    name: str
    when: str  # "loading", "called" (inside a function) or "checked" (under TYPE_CHECKING)

    def __str__(self) -> str:
        return f"{self.path.relative_to(PACKAGE.parent)}:{self.line} imports {self.name}"


def imports_of(path: Path) -> Iterator[Import]:
    """Every import of a file, anywhere in it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield from _imports(tree, path, "loading")


def _imports(node: ast.AST, path: Path, when: str) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        yield from (Import(path, node.lineno, alias.name, when) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        module = _absolute(node, path)
        # `from tidemark import types` names a layer just as `from tidemark.types import ...`.
        whole = [f"{module}.{a.name}" for a in node.names] if module == "tidemark" else [module]
        yield from (Import(path, node.lineno, name, when) for name in whole)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        when = "called" if when == "loading" else when
    elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        when = "checked"
    for child in ast.iter_child_nodes(node):
        yield from _imports(child, path, when)


def _absolute(node: ast.ImportFrom, path: Path) -> str:
    if not node.level:
        return node.module or ""
    package = ("tidemark", *path.relative_to(PACKAGE).parent.parts)
    base = package[: len(package) - node.level + 1]
    return ".".join([*base, node.module] if node.module else base)


def layer_of(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def named_layer(module: str) -> str:
    """The layer that `tidemark.x` names. What the package itself offers is the session's, but for
    its version, which no layer owns."""
    name = module.split(".")[1]
    if (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").exists():
        return name
    return "errors" if name == "__version__" else "session"


def rank(layer: str) -> int:
    return next(position for position, layers in enumerate(ORDER) if layer in layers)


FILES = sorted(p for p in PACKAGE.rglob("*.py") if p != PACKAGE / "__init__.py")
IMPORTS = [found for path in FILES for found in imports_of(path)]
LAYERS = sorted({layer_of(path) for path in FILES})


def imports_in(layer: str) -> list[Import]:
    return [found for found in IMPORTS if layer_of(found.path) == layer]


@pytest.mark.parametrize("layer", LAYERS)
def test_layer_has_its_place(layer: str):
    assert any(layer in layers for layers in ORDER), f"give `{layer}` a place in ORDER"


@pytest.mark.parametrize("layer", LAYERS)
def test_layer_imports_downwards_only(layer: str):
    below = {other for layers in ORDER[: rank(layer)] for other in layers}
    allowed = {layer} | KNOWS_ONLY.get(layer, below)
    upwards = [
        str(found)
        for found in imports_in(layer)
        if found.name.startswith("tidemark.") and named_layer(found.name) not in allowed
    ]
    assert upwards == []


@pytest.mark.parametrize("layer", LAYERS)
def test_layer_imports_only_its_own_libraries(layer: str):
    allowed = LIBRARIES.get(layer, set()) | {"tidemark"}
    foreign = [
        str(found)
        for found in imports_in(layer)
        if found.name.split(".")[0] not in allowed | sys.stdlib_module_names
    ]
    assert foreign == []


@pytest.mark.parametrize("layer", LAYERS)
def test_layer_loads_heavy_libraries_only_when_called(layer: str):
    early = [
        str(found)
        for found in imports_in(layer)
        if found.when == "loading"
        and found.name.split(".")[0] in LATE
        and not _runs_on_workers(found.path)
    ]
    assert early == []


def test_package_itself_loads_nothing_but_the_standard_library():
    early = [found for found in imports_of(PACKAGE / "__init__.py") if found.when == "loading"]
    foreign = [
        str(found) for found in early if found.name.split(".")[0] not in sys.stdlib_module_names
    ]
    assert foreign == []


def _runs_on_workers(path: Path) -> bool:
    inside = path.relative_to(PACKAGE).as_posix()
    return any(inside.startswith(f"{folder}/") for folder in LOADED_ON_WORKERS)


# --- circles -----------------------------------------------------------------------------------


def module_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in FILES}


def modules_imported_by(path: Path) -> set[str]:
    """Tidemark's modules that a file imports anywhere: also inside functions, or for types."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = _absolute(node, path)
            # `from tidemark.plan import words` is about the module `words`, not its folder.
            names = {f"{module}.{alias.name}" for alias in node.names}
            found |= {name if name in MODULES else module for name in names}
    return (found & MODULES.keys()) - {module_of(path)}


def circles(imports: dict[str, set[str]]) -> list[list[str]]:
    """Modules that import one another, round and round: those left over when all are taken away,
    again and again, that import none of the rest or are imported by none of it."""
    rest = dict(imports)
    while True:
        imported = set().union(*rest.values()) & rest.keys()
        ends = {m for m, below in rest.items() if m not in imported or not below & rest.keys()}
        if not ends:
            break
        rest = {m: below for m, below in rest.items() if m not in ends}
    return [[module, *sorted(below & rest.keys())] for module, below in sorted(rest.items())]


def test_no_modules_import_one_another_in_a_circle():
    assert circles({name: modules_imported_by(path) for name, path in MODULES.items()}) == []


def test_a_circle_is_found_however_long_it_is():
    assert circles({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == [["b", "c"], ["c", "b"]]


# --- names -------------------------------------------------------------------------------------

# `tidemark.Session` and `tidemark.windows.Session` are public, and the windows of `kernels` are
# part of what checkpoints are checked against, by name.
SHARED_NAMES = {"Session"}


def public_classes(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    return [name for name in names if not name.startswith("_")]


def test_each_public_class_has_a_name_of_its_own():
    # The names in `pyflink/api` and in `pyflink_programs` are PyFlink's.
    own = [path for path in FILES if not {"api", "pyflink_programs"} & set(path.parts)]
    counts = Counter(name for path in own for name in public_classes(path))
    assert {name for name, count in counts.items() if count > 1} == SHARED_NAMES
