"""The error for a record that cannot be read, however it was read."""

from __future__ import annotations

from tidemark.errors import DataError

_SHOWN = 300
_SHOWN_OF_VALUE = 200


def data_error(
    problem: str,
    *,
    why: str,
    file: str | None = None,
    number: int | None = None,
    value: str | None = None,
    record: str | None = None,
    hint: str | None = None,
) -> DataError:
    """A bad record with its place: the file, and the number of the record in it."""
    place = "" if file is None else f"{file}{f':{number}' if number else ''}  "
    notes: dict[str, object] = {"why": why}
    if value is not None:
        notes["value"] = repr(value[:_SHOWN_OF_VALUE])
    if record:
        notes["record"] = record if len(record) <= _SHOWN else record[:_SHOWN] + " ..."
    return DataError(f"{place}{problem}", notes=notes, hint=hint)


# --- what the messages say ---------------------------------------------------------------------


def cannot_read_record(format_: str) -> str:
    return f"cannot read the record as {format_}"


def cannot_read_field(field: str, type_: str) -> str:
    return f"cannot read `{field}` as {type_}"


def not_valid(type_: str) -> str:
    return f"the value is not a valid {type_}"


def skips_records(option: str) -> str:
    return f"'{option}' = 'true' skips such records"


def reads_as_null(option: str) -> str:
    return f"'{option}' = 'true' reads such fields as NULL"


def missing_field(field: str) -> str:
    return f"missing field `{field}` in the record"


def is_set(option: str) -> str:
    return f"'{option}' is set"


NOT_UTF_8 = "its bytes are not valid UTF-8"
