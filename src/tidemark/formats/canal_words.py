"""What is said about Canal events that have no rows."""

from __future__ import annotations

NAME = "canal-json"
DATABASES = f"{NAME}.database.include"
TABLES = f"{NAME}.table.include"

NO_OLD = "rows without `old` in a Canal event of type UPDATE"
OLD_IS_NEEDED = "the row before the change is needed to retract it"
DATA_IS_NEEDED = "`data` is missing, or contains a null row"
KNOWN = "the `type` of a change must be INSERT, UPDATE or DELETE; CREATE is skipped"


def no_data(type_: str) -> str:
    return f"missing rows in a Canal event of type {type_}"


def unknown(type_: str) -> str:
    return f"unknown `type` in a Canal event: {type_}"


def no_name(what: str) -> str:
    return f"missing `{what}` in a Canal event"


def required_by(option: str) -> str:
    return f"it is required by '{option}'"
