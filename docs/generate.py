"""Writes the pages that are made from the code: `make docs`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tidemark import functions
from tidemark.functions.registry import Function
from tidemark.functions.signatures import describe

DOCS = Path(__file__).resolve().parent

_OPENING = """\
# Built-in functions

Made from the function tables by `make docs`. Names are read without regard to case. A parameter in
brackets may be left out, one with dots may be repeated; `string`, `int`, `bigint` and `double` also
take what converts to them without loss.
"""


def functions_page() -> str:
    """The reference of every built-in function, by category, and of what is not there yet."""
    return "\n".join([_OPENING, *_categories(), *_not_yet()])


def _categories() -> Iterator[str]:
    distinct = {function.name: function for function in functions.BUILT_IN.values()}
    yield f"{len(distinct)} functions and operators.\n"
    for category in sorted({function.category for function in distinct.values()}):
        yield f"## {category.capitalize()}\n"
        yield "| function | what it gives |\n| --- | --- |"
        members = (f for f in distinct.values() if f.category == category)
        yield "\n".join(_line(f) for f in sorted(members, key=lambda f: f.name)) + "\n"


def _line(function: Function) -> str:
    signatures = " or ".join(f"`{text}`" for text in describe(function).split(" or "))
    also = f" Also `{'`, `'.join(function.aliases)}`." if function.aliases else ""
    return f"| {_cell(signatures)} | {_cell(function.summary + also)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").strip()


def _not_yet() -> Iterator[str]:
    if functions.NOT_YET:
        yield "## Not yet\n"
        yield "| function | why |\n| --- | --- |"
        yield "\n".join(f"| `{n}` | {_cell(why)} |" for n, why in sorted(functions.NOT_YET.items()))


PAGES = {DOCS / "functions.md": functions_page}


def main() -> None:
    for path, page in PAGES.items():
        path.write_text(page().rstrip("\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
