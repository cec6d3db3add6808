"""The python connector: tables whose rows a user's function finds, for keys that it is given.

The function takes an Arrow table with a column for each key, and returns the rows with these keys
as anything that is a table in Arrow's interface: of pyarrow, pandas or Polars.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tidemark import types as t
from tidemark.catalog.loading import code_of, module_of
from tidemark.catalog.tables import Table, TableTraits, UserFunction
from tidemark.connectors.base import Connector, OptionSpec
from tidemark.connectors.lookup_options import LOOKUP_OPTIONS, check_lookup, lookup_traits
from tidemark.connectors.lookups import Lookup, LookupRequest
from tidemark.connectors.options import span_of_option
from tidemark.dialect.statements import PhysicalColumn
from tidemark.errors import JobError, PlanError, SqlError

if TYPE_CHECKING:
    import polars as pl

# Nobody but the function knows all rows.
_BY_KEY = tuple(
    replace(spec, choices=("NONE", "PARTIAL")) if spec.name == "lookup.cache" else spec
    for spec in LOOKUP_OPTIONS
    if not spec.name.startswith("lookup.full-cache.")
)
OPTIONS = (
    OptionSpec("function", summary="the function that finds rows, as `module.function`"),
    *_BY_KEY,
)


def traits(table: Table, options: Mapping[str, Any]) -> TableTraits:
    return TableTraits(lookup=lookup_traits(options))


def check(table: Table, options: Mapping[str, Any]) -> None:
    if table.function is None and options["function"] is None:
        raise PlanError(
            f"table `{table.name}` requires the option 'function'",
            source=table.source,
            hint="'function' = 'module.function', or session.register_lookup(...)",
        )
    for column in table.columns:
        if not isinstance(column, PhysicalColumn):
            continue
        if isinstance(column.type, t.YearMonthInterval):
            raise PlanError(
                f"a function cannot return column `{column.name}` of {column.type.text()}",
                at=column.span,
                source=table.source,
            )
    check_lookup(table, options)


def lookup(request: LookupRequest) -> Lookup:
    """A function that is asked for the primary key, if there is one, else for all columns that the
    query compares.
    """
    function, table = _function(request.table, request.options), request.table
    names = [c.name for c in table.columns if isinstance(c, PhysicalColumn)]
    keys = [names[place] for place in request.keys]
    wanted = keys if table.primary_key is None else list(table.primary_key.columns)
    if missing := [name for name in wanted if name not in keys]:
        raise PlanError(
            f"a lookup join must compare the whole primary key of `{table.name}`",
            notes={"primary key": f"({', '.join(wanted)})"},
            hint="add " + " AND ".join(f"... = {table.name}.{name}" for name in missing),
        )
    find = Asked(
        table.name,
        function.implementation,
        tuple((request.columns[names.index(name)], name) for name in wanted),
        tuple(request.types[names.index(name)] for name in wanted),
        tuple(zip(names, request.columns, strict=True)),
    )
    return Lookup(open=find, modules=(module_of(function),))


def _function(table: Table, options: Mapping[str, Any]) -> UserFunction:
    if table.function is not None:
        return UserFunction(table.name, implementation=table.function)
    declared = UserFunction(table.name, identifier=options["function"])
    try:
        code = code_of(declared, span_of_option(table, "function"))
    except SqlError as error:
        raise (error.located_in(table.source) if table.source else error) from None
    return replace(declared, implementation=code)


@dataclass(frozen=True, slots=True)
class Asked:
    """Opens itself: a function has no connection."""

    table: str
    function: Callable[..., Any]
    keys: tuple[tuple[str, str], ...]  # their names in the request, and as declared
    key_types: tuple[t.DataType, ...]
    columns: tuple[tuple[str, str], ...]  # as declared, and in the request

    def __call__(self) -> Asked:
        return self

    def find(self, keys: pl.DataFrame) -> pl.DataFrame:
        import polars as pl
        import pyarrow as pa

        from tidemark.functions.arrow_types import to_arrow

        given = keys.select(pl.col(name).alias(declared) for name, declared in self.keys).unique(
            maintain_order=True
        )
        pairs = zip(self.keys, self.key_types, strict=True)
        schema = pa.schema((declared, to_arrow(type_)) for (_, declared), type_ in pairs)
        returned = self.function(given.to_arrow().cast(schema))
        rows = pl.from_arrow(self._as_table(returned))
        assert isinstance(rows, pl.DataFrame)
        return rows.rename({old: new for old, new in self.columns if old in rows.columns})

    def _as_table(self, returned: Any) -> Any:
        import pyarrow as pa

        try:
            return pa.table(returned)
        except (TypeError, ValueError):
            raise JobError(
                f"the function of `{self.table}` must return an Arrow table, not "
                f"{type(returned).__name__}",
                hint="pyarrow.table({...}), or a DataFrame of pandas or Polars",
            ) from None

    def close(self) -> None:
        """There is nothing to close."""


PYTHON = Connector(
    name="python",
    options=OPTIONS,
    summary="rows that a Python function finds; only for lookup joins",
    traits=traits,
    lookup=lookup,
    check=check,
)
