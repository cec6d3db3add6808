"""`TO_CHANGELOG(input => TABLE t, ...)` and `FROM_CHANGELOG(input => TABLE t, ...)` in FROM."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from sqlglot import exp

from tidemark import types as t
from tidemark.dialect import nodes, span_of
from tidemark.dialect.statements import Name
from tidemark.errors import PlanError, did_you_mean
from tidemark.plan.context import Context
from tidemark.plan.nodes import FromChangelog, Node, ToChangelog
from tidemark.plan.relation import Relation, aliased
from tidemark.plan.table_arguments import Arguments, arguments_of, column_of, input_of

_ARGUMENTS: Final = ("input", "op", "op_mapping", "on_time", "uid")
_KINDS: Final = {"INSERT": "+I", "UPDATE_BEFORE": "-U", "UPDATE_AFTER": "+U", "DELETE": "-D"}
_UID: Final = re.compile(r"[a-zA-Z_][a-zA-Z_0-9-]*")


def is_changelog_function(relation: exp.Expression, context: Context) -> bool:
    """Whether it is TO_CHANGELOG or FROM_CHANGELOG, and no user's function has that name."""
    call = _called(relation)
    if not isinstance(call, nodes.TableFunction) or call.name.upper() not in _FUNCTIONS:
        return False
    qualified = bool(call.args.get("qualifier"))
    return not qualified and context.catalogs.function(Name((call.name,))) is None


def bind_changelog_function(relation: exp.Expression, context: Context) -> Relation:
    call = _called(relation)
    assert isinstance(call, nodes.TableFunction)
    arguments = arguments_of(call, _ARGUMENTS)
    _check_uid(arguments)
    return aliased(_FUNCTIONS[call.name.upper()](call, arguments, context), relation, ())


def _called(relation: exp.Expression) -> exp.Expression:
    inner = relation.this if isinstance(relation, exp.Lateral) else relation
    assert isinstance(inner, exp.Expression)
    return inner


# --- the two functions -------------------------------------------------------------------------


def _to_changelog(call: nodes.TableFunction, arguments: Arguments, context: Context) -> Node:
    # What is asked for are the changes, which a batch does not emit otherwise.
    rows = _input(call, arguments, context.as_stream())
    op = _column(arguments, "op")
    name = "op" if op is None else op.name
    if name in rows.edge.names:
        raise PlanError(
            f"the table already has a column `{name}`",
            at=span_of(op if op is not None else arguments["input"]),
            hint="choose another name for the row kind: op => DESCRIPTOR(row_kind)",
        )
    return ToChangelog(rows, name, _codes(arguments), _time(arguments, rows))


def _from_changelog(call: nodes.TableFunction, arguments: Arguments, context: Context) -> Node:
    rows = _input(call, arguments, context)
    if (time := arguments.get("on_time")) is not None:
        raise _no_time(time)
    if rows.edge.changes:
        raise PlanError(
            "FROM_CHANGELOG requires an append-only table, and this one is a changelog",
            at=span_of(arguments["input"]),
            hint="read the table as it is, or turn its changes into rows by TO_CHANGELOG first",
        )
    place = _op(arguments, rows)
    if len(rows.edge.columns) == 1:
        raise PlanError(
            "the table must have a column besides that of the op codes",
            at=span_of(arguments["input"]),
        )
    return FromChangelog(rows, place, _row_kinds(arguments))


_FUNCTIONS: Final[Mapping[str, Callable[[nodes.TableFunction, Arguments, Context], Node]]] = {
    "TO_CHANGELOG": _to_changelog,
    "FROM_CHANGELOG": _from_changelog,
}


# --- arguments ---------------------------------------------------------------------------------


def _input(call: nodes.TableFunction, arguments: Arguments, context: Context) -> Node:
    return input_of(call, arguments, context, "which takes rows one by one")


def _column(arguments: Arguments, key: str) -> exp.Expression | None:
    return column_of(arguments, key, "op" if key == "op" else "ts")


def _op(arguments: Arguments, rows: Node) -> int:
    """The column with the op codes."""
    column = _column(arguments, "op")
    place = _place("op" if column is None else column.name, column, arguments, rows)
    if not isinstance(type_ := rows.edge.columns[place].type, t.CHARACTERS):
        raise PlanError(
            f"the op column `{rows.edge.names[place]}` must be a STRING, not {type_.text()}",
            at=span_of(column if column is not None else arguments["input"]),
        )
    return place


def _place(name: str, written: exp.Expression | None, arguments: Arguments, rows: Node) -> int:
    names = rows.edge.names
    if name not in names:
        raise PlanError(
            f"column `{name}` not found in the table",
            at=span_of(written if written is not None else arguments["input"]),
            notes={"columns": ", ".join(names)},
            hint=did_you_mean(name, names)
            or ("say where the op codes are: op => DESCRIPTOR(code)" if written is None else None),
        )
    return names.index(name)


def _time(arguments: Arguments, rows: Node) -> int | None:
    column = _column(arguments, "on_time")
    if column is None:
        return None
    if rows.edge.changes:
        raise _no_time(arguments["on_time"])
    place = _place(column.name, column, arguments, rows)
    if rows.edge.columns[place].time != "event":
        raise PlanError(
            f"`{column.name}` is not an event time "
            f"(it is a plain {rows.edge.columns[place].type.text()})",
            at=span_of(column),
            hint="declare a WATERMARK for the column",
        )
    return place


def _no_time(written: exp.Expression) -> PlanError:
    return PlanError(
        "the argument `on_time` is not allowed where rows change (same in Flink)",
        at=span_of(written),
        hint="leave it out: the event time of the table stays one",
    )


def _check_uid(arguments: Arguments) -> None:
    """It would be the name of the state, of which these functions have none."""
    uid = arguments.get("uid")
    if uid is not None and not (_is_string(uid) and _UID.fullmatch(uid.name)):
        raise PlanError(
            "the argument `uid` must be a string of letters, digits, `_` and `-`",
            at=span_of(uid),
            hint="leave it out: the function keeps no state",
        )


# --- the mapping -------------------------------------------------------------------------------


def _codes(arguments: Arguments) -> tuple[tuple[str, str], ...]:
    """For TO_CHANGELOG: row kinds and their codes."""
    codes: dict[str, str] = {}
    for names, written, code, _ in _mapping(arguments):
        for name in names:
            kind = _kind(name, written)
            if kind in codes:
                raise _twice(f"row kind {name}", written)
            codes[kind] = code
    if "op_mapping" not in arguments:
        codes = {kind: name for name, kind in _KINDS.items()}
    return tuple(codes.items())


def _row_kinds(arguments: Arguments) -> tuple[tuple[str, str], ...]:
    """For FROM_CHANGELOG: codes and their row kinds."""
    if "op_mapping" not in arguments:
        return tuple(_KINDS.items())
    kinds: dict[str, str] = {}
    for codes, written, name, of in _mapping(arguments):
        kind = _kind(name.strip(), of)
        if kind in kinds.values():
            raise _twice(f"row kind {name.strip()}", of, "put its codes into one string: 'c, r'")
        for code in codes:
            if code in kinds:
                raise _twice(f"op code '{code}'", written)
            kinds[code] = kind
    if "+U" in kinds.values() and "-U" not in kinds.values():
        raise PlanError(
            "the mapping must have UPDATE_BEFORE if it has UPDATE_AFTER (same in Flink)",
            at=span_of(arguments["op_mapping"]),
            notes={"why": "without the rows before updates, they would be upserts"},
            hint="if the rows have no such code, keep the last row of each key instead: "
            "ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts DESC) = 1",
        )
    return tuple(kinds.items())


def _mapping(
    arguments: Arguments,
) -> Iterator[tuple[list[str], exp.Expression, str, exp.Expression]]:
    """The entries of the map: the words of its key, as written, and its value, as written. Of equal
    keys the last one counts.
    """
    written = arguments.get("op_mapping")
    if written is None:
        return
    is_map = isinstance(written, nodes.MapConstructor)
    if not is_map or not written.expressions or not all(map(_is_string, written.expressions)):
        raise PlanError(
            "the argument `op_mapping` must be a MAP of string literals",
            at=span_of(written),
            hint="write op_mapping => MAP['INSERT', 'c', 'DELETE', 'd']",
        )
    pairs = zip(written.expressions[::2], written.expressions[1::2], strict=True)
    for key, value in {key.name: (key, value) for key, value in pairs}.values():
        yield _words(key.name), key, value.name, value


def _words(text: str) -> list[str]:
    """The words between commas; nothing follows a last comma."""
    return [word.strip() for word in text.rstrip(",").split(",")]


def _is_string(value: exp.Expression) -> bool:
    return isinstance(value, exp.Literal) and bool(value.is_string)


def _kind(name: str, written: exp.Expression) -> str:
    if name not in _KINDS:
        raise PlanError(
            f"`{name}` is not a row kind",
            at=span_of(written),
            notes={"row kinds": ", ".join(_KINDS)},
            hint=did_you_mean(name, _KINDS),
        )
    return _KINDS[name]


def _twice(what: str, written: exp.Expression, hint: str | None = None) -> PlanError:
    return PlanError(f"{what} is in the mapping twice", at=span_of(written), hint=hint)
