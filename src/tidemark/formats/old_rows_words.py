"""Events with `data` and `old`: how Canal's and Maxwell's differ, and what is said about those that
have no rows.
"""

from __future__ import annotations

from dataclasses import dataclass

OLD_IS_NEEDED = "the row before the change is needed to retract it"


@dataclass(frozen=True, slots=True)
class OldRowsEvents:
    """One kind of events: its format, its name, and how its `type` says what was done."""

    format: str
    name: str
    insert: str
    update: str
    delete: str
    skipped: str | None  # a type without rows
    lists: bool  # whether an event has a list of rows, or one

    @property
    def types(self) -> tuple[str, str, str]:
        return (self.insert, self.update, self.delete)

    @property
    def no_old(self) -> str:
        what = "rows" if self.lists else "a row"
        return f"{what} without `old` in a {self.name} event of type {self.update}"

    @property
    def data_is_needed(self) -> str:
        return "`data` is missing, or contains a null row" if self.lists else "`data` is missing"

    def no_data(self, type_: str) -> str:
        what = "missing rows" if self.lists else "missing row"
        return f"{what} in a {self.name} event of type {type_}"

    @property
    def known(self) -> str:
        must = f"the `type` of a change must be {self.insert}, {self.update} or {self.delete}"
        return must if self.skipped is None else f"{must}; {self.skipped} is skipped"

    def unknown(self, type_: str) -> str:
        return f"unknown `type` in a {self.name} event: {type_}"

    def no_name(self, what: str) -> str:
        return f"missing `{what}` in a {self.name} event"


CANAL = OldRowsEvents("canal-json", "Canal", "INSERT", "UPDATE", "DELETE", "CREATE", lists=True)
MAXWELL = OldRowsEvents("maxwell-json", "Maxwell", "insert", "update", "delete", None, lists=False)

# Canal events may be chosen by these.
DATABASES = f"{CANAL.format}.database.include"
TABLES = f"{CANAL.format}.table.include"


def required_by(option: str) -> str:
    return f"it is required by '{option}'"
