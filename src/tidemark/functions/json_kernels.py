"""The JSON functions over whole columns: Arrow arrays in, an Arrow array out.

JSON is parsed here and not by Spark, whose `get_json_object` rounds numbers (1.10 becomes 1.1),
accepts strings that are not JSON, and supports few kinds of paths. Arrow has no kernel that parses
JSON, so these loop over the rows; each row's JSON is parsed once by Python's own C parser.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from tidemark.functions import json_text
from tidemark.functions.json_paths import NotFound, Path, compile_path
from tidemark.functions.json_writing import strings

if TYPE_CHECKING:
    import pyarrow as pa

_INT_RANGE = range(-(2**31), 2**31)


def _compiled(paths: pa.Array) -> list[Path | None]:
    """Each row's path; most queries have one for all rows, which is compiled once."""
    known = {path: compile_path(path) for path in paths.unique().to_pylist() if path is not None}
    return [known.get(path) for path in paths.to_pylist()]


def _find(text: str, path: Path) -> Any:
    """The value at a path in a JSON document. Raises ValueError or NotFound."""
    try:
        document = json_text.parse(text)
    except ValueError:
        if path.lax:
            return None
        raise
    if document is None:
        raise ValueError("the JSON document is null")
    found = path.find(document)
    if found is None and not path.lax:
        raise ValueError("a strict path finds null")
    return found


# --- JSON_EXISTS -------------------------------------------------------------------------------


def exists(documents: pa.Array, paths: pa.Array, on_error: pa.Array) -> pa.Array:
    """Whether each path leads to a value that is not null."""
    import pyarrow as pa

    rows = zip(documents.to_pylist(), _compiled(paths), on_error.to_pylist(), strict=True)
    return pa.array([_exists(*row) for row in rows], pa.bool_())


def _exists(text: str | None, path: Path | None, on_error: str) -> bool | None:
    if text is None or path is None:
        return None
    try:
        return _find(text, path) is not None
    except (ValueError, NotFound) as problem:
        if on_error == "ERROR":
            raise ValueError(_failure("JSON_EXISTS", path, problem)) from None
        return {"TRUE": True, "FALSE": False, "UNKNOWN": None}[on_error]


def _failure(function: str, path: Path, problem: Exception) -> str:
    reason = "nothing is there" if isinstance(problem, NotFound) else str(problem)
    return f"{function} cannot evaluate its path: {reason}"


# --- JSON_VALUE --------------------------------------------------------------------------------


def _to_boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("BOOLEAN")
    return value


def _to_int(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value not in _INT_RANGE:
        raise TypeError("INT")
    return value


def _to_double(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise TypeError("DOUBLE")
    return float(value)


def _value_kernel(convert: Callable[[Any], Any], arrow: str) -> Callable[..., pa.Array]:
    def kernel(
        documents: pa.Array,
        paths: pa.Array,
        on_empty: pa.Array,
        on_error: pa.Array,
        if_empty: pa.Array,
        if_error: pa.Array,
    ) -> pa.Array:
        import pyarrow as pa

        clauses = (column.to_pylist() for column in (on_empty, on_error, if_empty, if_error))
        rows = zip(documents.to_pylist(), _compiled(paths), *clauses, strict=True)
        values = [_value(convert, *row) for row in rows]
        return strings(values) if arrow == "string" else pa.array(values, arrow)

    return kernel


def _value(
    convert: Callable[[Any], Any],
    text: str | None,
    path: Path | None,
    on_empty: str,
    on_error: str,
    if_empty: Any,
    if_error: Any,
) -> Any:
    """One scalar; an object or array counts as absent in a lax path and as an error in a strict
    one.
    """
    if text is None or path is None:
        return None
    try:
        value = _find(text, path)
        if not path.lax and not json_text.is_scalar(value):
            raise ValueError("a strict path finds an object or array, not a scalar")
    except (ValueError, NotFound) as problem:
        if on_error == "ERROR":
            raise ValueError(_failure("JSON_VALUE", path, problem)) from None
        return if_error if on_error == "DEFAULT" else None
    if value is None or not json_text.is_scalar(value):
        if on_empty == "ERROR":
            raise ValueError("JSON_VALUE found nothing")
        return if_empty if on_empty == "DEFAULT" else None
    try:
        return convert(value)
    except TypeError as wanted:
        raise ValueError(
            f"JSON_VALUE found {json_text.serialize(value)}, which is not of type {wanted}"
        ) from None


# By the type of RETURNING.
VALUE_KERNELS: dict[str, Callable[..., pa.Array]] = {
    "STRING": _value_kernel(json_text.scalar_string, "string"),
    "BOOLEAN": _value_kernel(_to_boolean, "bool"),
    "INT": _value_kernel(_to_int, "int32"),
    "DOUBLE": _value_kernel(_to_double, "float64"),
}


# --- JSON_QUERY --------------------------------------------------------------------------------


def query(
    documents: pa.Array, paths: pa.Array, wrapper: pa.Array, on_empty: pa.Array, on_error: pa.Array
) -> pa.Array:
    """Objects and arrays as JSON."""
    found = _queried(documents, paths, wrapper, on_empty, on_error)
    return strings([None if value is None else json_text.serialize(value) for value in found])


def query_array(
    documents: pa.Array, paths: pa.Array, wrapper: pa.Array, on_empty: pa.Array, on_error: pa.Array
) -> pa.Array:
    """Arrays as arrays of strings; an object is empty, or an error if ON ERROR says so."""
    import pyarrow as pa

    found = _queried(documents, paths, wrapper, on_empty, on_error, arrays=True)
    elements = [value if value is None else [_element(each) for each in value] for value in found]
    return pa.array(elements, pa.list_(pa.string()))


def _element(value: Any) -> str | None:
    if value is None:
        return None
    return (
        json_text.scalar_string(value) if json_text.is_scalar(value) else json_text.serialize(value)
    )


def _queried(
    documents: pa.Array,
    paths: pa.Array,
    wrapper: pa.Array,
    on_empty: pa.Array,
    on_error: pa.Array,
    *,
    arrays: bool = False,
) -> list[Any]:
    clauses = (column.to_pylist() for column in (wrapper, on_empty, on_error))
    rows = zip(documents.to_pylist(), _compiled(paths), *clauses, strict=True)
    return [_query(arrays, *row) for row in rows]


def _query(
    arrays: bool, text: str | None, path: Path | None, wrapper: str, on_empty: str, on_error: str
) -> Any:
    if text is None or path is None:
        return None
    try:
        value = _find(text, path)
        if value is not None:
            value = _wrapped(value, wrapper)
            if not path.lax and json_text.is_scalar(value):
                raise ValueError("a strict path finds a scalar, which needs a WRAPPER")
            if arrays and isinstance(value, dict):
                raise ValueError("it finds an object, not an array")
    except (ValueError, NotFound) as problem:
        if on_error == "ERROR":
            raise ValueError(_failure("JSON_QUERY", path, problem)) from None
        return _empty(on_error)
    if value is None or json_text.is_scalar(value):
        if on_empty == "ERROR":
            raise ValueError("JSON_QUERY found nothing")
        return _empty(on_empty)
    return value


def _wrapped(value: Any, wrapper: str) -> Any:
    if wrapper == "WITHOUT ARRAY":
        return value
    if wrapper == "WITH CONDITIONAL ARRAY" and isinstance(value, list):
        return value
    return [value]


def _empty(behavior: str) -> Any:
    return {"NULL": None, "EMPTY ARRAY": [], "EMPTY OBJECT": {}}[behavior]


# --- IS JSON -----------------------------------------------------------------------------------


def _is_json_kernel(fits: Callable[[Any], bool]) -> Callable[[pa.Array], pa.Array]:
    def kernel(documents: pa.Array) -> pa.Array:
        import pyarrow as pa

        return pa.array([_is_json(text, fits) for text in documents.to_pylist()], pa.bool_())

    return kernel


def _is_json(text: str | None, fits: Callable[[Any], bool]) -> bool:
    try:
        return text is not None and fits(json_text.parse(text))
    except ValueError:
        return False


IS_JSON_KERNELS: dict[str, Callable[[pa.Array], pa.Array]] = {
    "VALUE": _is_json_kernel(lambda value: True),
    "SCALAR": _is_json_kernel(json_text.is_scalar),
    "ARRAY": _is_json_kernel(lambda value: isinstance(value, list)),
    "OBJECT": _is_json_kernel(lambda value: isinstance(value, dict)),
}
