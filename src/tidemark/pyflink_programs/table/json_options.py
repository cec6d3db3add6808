"""What PyFlink's JSON functions do about NULL, what is missing and errors, as SQL spells it."""

from __future__ import annotations

from enum import Enum


class JsonType(Enum):
    """What `is_json` accepts."""

    VALUE = "VALUE"
    SCALAR = "SCALAR"
    ARRAY = "ARRAY"
    OBJECT = "OBJECT"


class JsonExistsOnError(Enum):
    """What `json_exists` returns for an error."""

    TRUE = "TRUE"
    FALSE = "FALSE"
    UNKNOWN = "UNKNOWN"
    ERROR = "ERROR"


class JsonValueOnEmptyOrError(Enum):
    """What `json_value` returns if there is no value, or for an error."""

    NULL = "NULL"
    ERROR = "ERROR"
    DEFAULT = "DEFAULT"


class JsonQueryWrapper(Enum):
    """Whether `json_query` makes an array of what it finds."""

    WITHOUT_ARRAY = "WITHOUT ARRAY WRAPPER"
    CONDITIONAL_ARRAY = "WITH CONDITIONAL ARRAY WRAPPER"
    UNCONDITIONAL_ARRAY = "WITH UNCONDITIONAL ARRAY WRAPPER"


class JsonQueryOnEmptyOrError(Enum):
    """What `json_query` returns if there is nothing, or for an error."""

    NULL = "NULL"
    EMPTY_ARRAY = "EMPTY ARRAY"
    EMPTY_OBJECT = "EMPTY OBJECT"
    ERROR = "ERROR"


class JsonOnNull(Enum):
    """Whether NULL becomes a value of JSON, or is left out."""

    NULL = "NULL"
    ABSENT = "ABSENT"
