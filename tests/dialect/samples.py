"""The SQL files next to these tests."""

from __future__ import annotations

from pathlib import Path

from tidemark.dialect import parse_script, to_sql
from tidemark.dialect.statements import Script

HERE = Path(__file__).parent


def seeds() -> dict[str, str]:
    return {path.stem: path.read_text("utf-8") for path in sorted((HERE / "seeds").glob("*.sql"))}


def pairs() -> dict[str, tuple[str, str]]:
    """Before and after, by the comment above them."""
    found = {}
    for path in sorted((HERE / "pairs").glob("*.sql")):
        for block in path.read_text("utf-8").strip().split("\n\n-- "):
            title, _, rest = block.removeprefix("-- ").partition("\n")
            before, _, after = rest.partition("\n--->\n")
            found[title] = (before, after.rstrip())
    return found


def round_trip(text: str) -> Script:
    """The script, after checking that it survives printing and that printing settles at once."""
    script = parse_script(text)
    printed = to_sql(script)
    again = parse_script(printed)
    assert again.statements == script.statements, printed
    assert to_sql(again) == printed
    return script
