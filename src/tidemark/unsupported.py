"""What Tidemark refuses by name: each feature is declared once, for its error and for the docs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType

from tidemark.errors import NotSupported, Source, Span

YET = "is not supported yet"
NEVER = "is not supported"


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A feature of Flink SQL that is not supported, with the reason and what to do instead.

    `{}` in the name stands for one of the words in `each`, which may have hints of their own. The
    docs use the `title` where the name alone would not say enough.

    >>> alter = Unsupported("Statements", "ALTER {}", each={"MODEL": None}, says=NEVER)
    >>> alter.error(None, "MODEL").message
    'ALTER MODEL is not supported'
    """

    topic: str
    name: str
    why: str | None = None
    hint: str | None = None
    each: Mapping[str, str | None] = field(default_factory=dict)
    says: str = YET
    title: str | None = None

    @property
    def comes_later(self) -> bool:
        return YET.split()[-1] in self.says.split()

    def error(
        self,
        at: Span | None,
        word: str = "",
        *,
        where: str = "",
        source: Source | None = None,
        hint: str | None = None,
    ) -> NotSupported:
        """The refusal. `word` is the one that was found, `where` adds a place to the message, and
        `hint` is one for this place.
        """
        return NotSupported(
            f"{self._named(word)} {self.says}{where}",
            at=at,
            source=source,
            notes={"why": self.why} if self.why else None,
            hint=hint or self.each.get(word) or self.hint,
        )

    def documented(self) -> Iterator[tuple[str, str, str]]:
        """Its lines in the docs: the name, the reason and the hint, one for each hint."""
        words: dict[str, list[str]] = {}
        for word, own in (self.each or {"": None}).items():
            words.setdefault(own or self.hint or "", []).append(word)
        for hint, several in words.items():
            where = self.says.partition("not supported")[2].removesuffix(" yet")
            yield self.title or self._listed(several) + where, self.why or "", hint

    def _listed(self, words: list[str]) -> str:
        if self.name.endswith("{}"):
            return self._named(", ".join(words))
        return ", ".join(map(self._named, words))

    def _named(self, word: str) -> str:
        return self.name.replace("{}", word)


def declared_in(*modules: ModuleType) -> list[Unsupported]:
    """The features that modules declare, in the order in which they are written."""
    return [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Unsupported)
    ]
