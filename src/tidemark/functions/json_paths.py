"""JSON paths as Flink 2.3 interprets them: those of the Jayway library, with `lax` or `strict`.

A path is a tuple of steps, each of which leads from one value to others. A *definite* path leads to
at most one value; after a step that can find several, the result is a list of all matches. Filters
(`[?(...)]`) are rejected. Flink 2.3 evaluates them, but one that asks whether a field exists fails,
and then so does every other one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_MODE = re.compile(r"\s*(strict|lax)\s+(.+)\Z", re.IGNORECASE | re.DOTALL)
_DOT_NAME = re.compile(r"[^.\[(\s]+")
_FUNCTION = re.compile(r"(\w+)\(\s*\)\Z")
_INDEX = r"-?[0-9]{1,9}"
_INDEXES = re.compile(rf"\[\s*({_INDEX}(?:\s*,\s*{_INDEX})*)\s*\]")
_SLICE = re.compile(rf"\[\s*({_INDEX})?\s*:\s*({_INDEX})?\s*\]")
_WILDCARD = re.compile(r"\[\s*\*\s*\]|\*")
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_NAMES = re.compile(rf"\[\s*((?:{_QUOTED})(?:\s*,\s*(?:{_QUOTED}))*)\s*\]", re.DOTALL)


class InvalidPath(ValueError):
    """The string is not a path."""


class UnknownPath(InvalidPath):
    """The string is a path of a kind that is not supported; the message explains which."""


class NotFound(Exception):
    """A definite path leads nowhere."""


@dataclass(frozen=True, slots=True)
class Names:
    """`.a`, `['a']`, or `['a','b']` for an object of several fields."""

    names: tuple[str, ...]

    @property
    def definite(self) -> bool:
        return True

    def follow(self, value: Any) -> Iterator[Any]:
        if not isinstance(value, dict):
            raise NotFound
        if len(self.names) > 1:
            yield {name: value[name] for name in self.names if name in value}
        elif self.names[0] in value:
            yield value[self.names[0]]
        else:
            raise NotFound

    def fits(self, value: Any) -> bool:
        return isinstance(value, dict) and all(name in value for name in self.names)


@dataclass(frozen=True, slots=True)
class Indexes:
    """`[0]`, `[-1]`, `[0,2]`"""

    indexes: tuple[int, ...]

    @property
    def definite(self) -> bool:
        return len(self.indexes) == 1

    def follow(self, value: Any) -> Iterator[Any]:
        if not isinstance(value, list):
            raise NotFound
        for index in self.indexes:
            if -len(value) <= index < len(value):
                yield value[index]
            elif self.definite:
                raise NotFound

    def fits(self, value: Any) -> bool:
        return isinstance(value, list)


@dataclass(frozen=True, slots=True)
class Slice:
    """`[1:3]`, `[-2:]`, `[:2]`"""

    begin: int | None
    end: int | None

    definite = False

    def follow(self, value: Any) -> Iterator[Any]:
        if not isinstance(value, list):
            raise NotFound
        yield from value[self.begin : self.end]

    def fits(self, value: Any) -> bool:
        return isinstance(value, list)


@dataclass(frozen=True, slots=True)
class Wildcard:
    """`.*` and `[*]`: all direct children."""

    definite = False

    def follow(self, value: Any) -> Iterator[Any]:
        if isinstance(value, dict):
            yield from value.values()
        elif isinstance(value, list):
            yield from value

    def fits(self, value: Any) -> bool:
        return isinstance(value, dict | list)


@dataclass(frozen=True, slots=True)
class Anywhere:
    """`..step`: the step applied to the value and to everything inside it."""

    step: Names | Indexes | Slice | Wildcard

    definite = False

    def follow(self, value: Any) -> Iterator[Any]:
        if self.step.fits(value):
            with suppress(NotFound):
                yield from self.step.follow(value)
        if isinstance(value, dict | list):
            for inner in value.values() if isinstance(value, dict) else value:
                yield from self.follow(inner)


@dataclass(frozen=True, slots=True)
class Length:
    """`.length()`: the number of elements or fields."""

    definite = True

    def follow(self, value: Any) -> Iterator[Any]:
        yield len(value) if isinstance(value, dict | list) else None


Step = Names | Indexes | Slice | Wildcard | Anywhere | Length


@dataclass(frozen=True, slots=True)
class Path:
    lax: bool
    steps: tuple[Step, ...]
    error: str | None = None  # why the string is not a path: an error when it is evaluated

    def find(self, value: Any) -> Any:
        """The value that the path leads to; a list if it may lead to several.

        Raises NotFound for a strict path that leads nowhere; a lax one returns None.
        """
        if self.error is not None:
            raise InvalidPath(self.error)
        try:
            return self._find(value)
        except NotFound:
            if not self.lax:
                raise
            return None if all(step.definite for step in self.steps) else []

    def _find(self, value: Any) -> Any:
        found, definite = [value], True
        for step in self.steps:
            found = [inner for each in found for inner in self._follow(step, each, definite)]
            definite = definite and step.definite
        return found[0] if definite else found

    @staticmethod
    def _follow(step: Step, value: Any, definite: bool) -> list[Any]:
        try:
            return list(step.follow(value))
        except NotFound:
            if definite:
                raise
            return []  # one of several: the others may still lead somewhere


@lru_cache(maxsize=1024)
def compile_path(text: str) -> Path:
    """Parse a path. An invalid one becomes a path that fails when it is evaluated."""
    mode = _MODE.match(text)
    lax = mode is not None and mode.group(1).lower() == "lax"
    try:
        return Path(lax, tuple(_steps(mode.group(2) if mode else text)))
    except InvalidPath as problem:
        return Path(lax, (), str(problem))


def check_path(text: str) -> None:
    """Raises UnknownPath for a path that Flink may support and Tidemark does not."""
    mode = _MODE.match(text)
    try:
        tuple(_steps(mode.group(2) if mode else text))
    except UnknownPath:
        raise
    except InvalidPath:
        pass  # Flink accepts it, and treats it as an error in each row


def _steps(text: str) -> Iterator[Step]:
    text = text.strip()
    if not text:
        raise InvalidPath("the path is empty")
    if text[0] not in "$@":
        text = f"$.{text}"
    here = 1
    if len(text) > 1 and text[1] not in ".[":
        raise InvalidPath(f"`{text[1]}` is not allowed after `{text[0]}`")
    while here < len(text):
        if text[here:] == "[" and here > 1:
            return  # Jayway allows an open bracket at the end of a step
        step, here = _step(text, here)
        yield step


def _step(text: str, here: int) -> tuple[Step, int]:
    if text.startswith("..", here):
        step, after = _plain_step(text, here + 2, dotted=not text.startswith("..[", here))
        if isinstance(step, Length):
            raise UnknownPath("`length()` after `..` is not supported")
        return Anywhere(step), after
    if text[here] == ".":
        return _plain_step(text, here + 1, dotted=True)
    return _plain_step(text, here, dotted=False)


def _plain_step(
    text: str, here: int, *, dotted: bool
) -> tuple[Names | Indexes | Slice | Wildcard | Length, int]:
    if wildcard := _WILDCARD.match(text, here):
        return Wildcard(), wildcard.end()
    if indexes := _INDEXES.match(text, here):
        return Indexes(tuple(int(n) for n in indexes.group(1).split(","))), indexes.end()
    if part := _SLICE.match(text, here):
        begin, end = (int(n) if n else None for n in part.groups())
        return Slice(begin, end), part.end()
    if names := _NAMES.match(text, here):
        found = re.findall(_QUOTED, names.group(1), re.DOTALL)
        return Names(tuple(_unquoted(name) for name in found)), names.end()
    if text.startswith("[?", here):
        raise UnknownPath("path filters are not supported yet")
    if function := _FUNCTION.match(text, here):
        if function.group(1) not in ("length", "size"):
            raise UnknownPath(f"path function `{function.group()}` is not supported")
        return Length(), function.end()
    name = _DOT_NAME.match(text, here) if dotted else None
    if name is None:
        raise InvalidPath(f"invalid path step at `{text[here:]}`")
    return Names((name.group(),)), name.end()


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)
