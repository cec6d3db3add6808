"""The examples of a Markdown page, and how to run them.

What a fenced block is for is in a comment before it, or follows from its language:

- `<!-- file: orders.sql -->` before any block: the block is that file's content;
- `python`: run, all blocks of a page in one namespace, unless `<!-- not run -->` precedes it;
- `sql`: planned, without running it; so is a file that no command on the page names;
- `console`: lines that begin with `$ tidemark` are commands, what follows is what they print, the
  same each time unless `<!-- output varies -->` precedes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(
    r"(?:<!-- (?P<role>[^>]*?) -->\n+)?^```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    path: Path
    line: int
    language: str
    role: str | None
    text: str

    @property
    def file_name(self) -> str | None:
        """The file whose content this block is."""
        if self.role and self.role.startswith("file: "):
            return self.role.removeprefix("file: ")
        return None

    @property
    def runs(self) -> bool:
        return self.file_name is None and self.role != "not run"

    @property
    def varies(self) -> bool:
        """Whether commands print something else each time."""
        return self.role == "output varies"


def blocks_of(path: Path) -> list[Block]:
    text = path.read_text(encoding="utf-8")
    return [
        Block(path, text.count("\n", 0, m.start("text")), m["language"], m["role"], m["text"])
        for m in _FENCE.finditer(text)
    ]


def commands_of(block: Block) -> Iterator[tuple[list[str], str]]:
    """The `tidemark` commands of a console block, and the output shown for each."""
    if block.language != "console":
        return
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        words = re.sub(r"\s+#.*$", "", command).split()
        if words and words[0] == "tidemark":
            yield words[1:], output
