"""Which tables a statement names."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from tidemark.dialect import statements as s


def table_names(statement: s.Statement) -> Iterator[s.Name]:
    """The tables and views that a statement reads or writes, without looking them up."""
    match statement:
        case s.Query(query=query) | s.CreateView(query=query):
            yield from _read(query)
        case s.CreateTable(name=name, query=exp.Expression() as query):
            yield name
            yield from _read(query)
        case s.Insert(target=target, query=query):
            yield target
            yield from _read(query)
        case s.StatementSet(inserts=inserts):
            for insert in inserts:
                yield from table_names(insert)
        case s.Explain(statement=inside) | s.CompilePlan(statement=inside):
            yield from table_names(inside)


def _read(query: exp.Expression) -> Iterator[s.Name]:
    """A name that the query defines in WITH is not a table."""
    defined = {cte.alias for cte in query.find_all(exp.CTE)}
    for table in query.find_all(exp.Table):
        name = s.Name(tuple(part.name for part in table.parts))
        if len(name.parts) > 1 or name.parts[0] not in defined:
            yield name
