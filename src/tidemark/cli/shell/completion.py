"""Completion of keywords, functions, tables, columns and options."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from tidemark import functions
from tidemark.cli.shell.option_completion import complete_option
from tidemark.cli.shell.vocabulary import COMMANDS, LONGER_PHRASES, PHRASES, STATEMENTS, TYPES
from tidemark.dialect.keywords import quoted_if_needed
from tidemark.dialect.statements import Name
from tidemark.errors import SqlError
from tidemark.plan.nodes import Column
from tidemark.session.workspace import Workspace

_OPEN_QUOTE = re.compile(r"'([^']*)$")
_LAST_WORD = re.compile(r"[\w$]*$")
_QUALIFIED = re.compile(r"([\w$]+|`[^`]+`)\.[\w$]*$")
_BEFORE_A_TABLE = re.compile(
    r"\b(?:FROM|JOIN|INTO|TABLE|VIEW|DESCRIBE|DESC|COLUMNS\s+FROM)\s+[\w$]*$", re.IGNORECASE
)
# `FROM orders AS o`, `JOIN rates r`; the alias is optional.
_MENTIONED = re.compile(
    r"\b(?:FROM|JOIN|INTO|TABLE)\s+([\w$.`]+)(?:\s+FOR\s+SYSTEM_TIME\s+AS\s+OF\s+[\w$.`]+)?"
    r"(?:\s+(?:AS\s+)?([\w$]+))?",
    re.IGNORECASE,
)


class Suggestion(NamedTuple):
    text: str
    kind: str = ""


class SqlCompleter(Completer):
    """Completes from what the session has declared so far."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterator[Completion]:
        before = document.text_before_cursor
        quoted = _OPEN_QUOTE.search(before) if before.count("'") % 2 else None
        if quoted is not None:
            options = [Suggestion(key, "option") for key in complete_option(before, document.text)]
            yield from _matching(options, quoted[1])
            return
        word = _last_word(before)
        qualified = _QUALIFIED.search(before)
        if qualified is not None:
            yield from _matching(self._columns_of(qualified[1], document.text), word)
        elif word or event.completion_requested or _BEFORE_A_TABLE.search(before):
            yield from self._words(before, word, document.text)

    def _words(self, before: str, word: str, text: str) -> Iterator[Completion]:
        if not before[: len(before) - len(word)].strip():
            starts = [*map(Suggestion, STATEMENTS), *(Suggestion(c, "shell") for c in COMMANDS)]
            yield from _matching(starts, word, as_typed=True)
            return
        if _BEFORE_A_TABLE.search(before):
            yield from _matching(self._tables(), word)
            return
        yield from _matching(self._columns_in(text), word)
        yield from _matching(_functions(), word, as_typed=True)
        yield from _matching(self._tables(), word)
        language = map(Suggestion, (*LONGER_PHRASES, *PHRASES, *sorted(TYPES)))
        yield from _matching(language, word, as_typed=True)

    def _tables(self) -> Iterator[Suggestion]:
        for relation in self._workspace.catalogs.relations():
            yield Suggestion(quoted_if_needed(relation.name), type(relation).__name__.lower())

    def _columns_of(self, name: str, text: str) -> Iterator[Suggestion]:
        """The columns of a table by its name or alias in the statement."""
        name = name.strip("`")
        for table, alias in _MENTIONED.findall(text):
            if name in (alias, table.split(".")[-1].strip("`")):
                return _as_suggestions(self._columns(table))
        return _as_suggestions(self._columns(name))

    def _columns_in(self, text: str) -> Iterator[Suggestion]:
        for table, _ in _MENTIONED.findall(text):
            yield from _as_suggestions(self._columns(table))

    def _columns(self, table: str) -> tuple[Column, ...]:
        parts = tuple(part.strip("`") for part in table.split("."))
        try:
            relation = self._workspace.catalogs.find(Name(parts))
            return self._workspace.planner.relation(relation).columns if relation else ()
        except SqlError:  # being typed, or invalid since it was declared
            return ()


def _functions() -> Iterator[Suggestion]:
    for name in sorted(functions.BUILT_IN):
        if name[0].isalpha():
            yield Suggestion(name, "function")


def _as_suggestions(columns: Iterable[Column]) -> Iterator[Suggestion]:
    for column in columns:
        yield Suggestion(quoted_if_needed(column.name), str(column.type))


def _matching(
    suggestions: Iterable[Suggestion], typed: str, as_typed: bool = False
) -> Iterator[Completion]:
    """Those that match the prefix, each once; keywords in the case of the prefix."""
    seen = set()
    for suggestion in suggestions:
        if suggestion.text in seen or not _begins(suggestion.text, typed):
            continue
        seen.add(suggestion.text)
        lower = as_typed and typed.islower()
        text = suggestion.text.lower() if lower else suggestion.text
        yield Completion(text, -len(typed), display_meta=suggestion.kind)


def _begins(text: str, typed: str) -> bool:
    return text.strip("`").lower().startswith(typed.lower()) and text != typed


def _last_word(before: str) -> str:
    found = _LAST_WORD.search(before)
    return found[0] if found else ""
