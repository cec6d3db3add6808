"""`make demo` without its pauses, on the Spark that all tests share."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

import tidemark
from examples.demo import __main__ as demo
from examples.demo.market import moments
from examples.demo.screen import Screen
from tests.docs.examples import blocks_of
from tidemark.cli.choices import ColorChoice
from tidemark.cli.status import StatusLine
from tidemark.cli.terminal import Terminal

ROOT = Path(__file__).parents[2]


def shown_in_the_readme() -> str:
    [block] = [b for b in blocks_of(ROOT / "README.md") if "orders wait" in b.text]
    return block.text


@pytest.mark.slow
def test_the_demo_shows_the_value_of_each_order_and_why_others_wait(spark, monkeypatch):
    monkeypatch.setattr(demo, "PAUSE_SECONDS", 0)
    terminal = Terminal(ColorChoice.never, out=io.StringIO(), err=io.StringIO())
    session = tidemark.connect(spark)

    with demo.in_new_folder() as folder:
        demo.play(session, demo.SCRIPT.read_text(), folder, Screen(terminal), StatusLine(terminal))
        session.stop()

    said = terminal.out.getvalue()
    worth = re.findall(r"final  order (\d+)  .*? (has no rate|x [\d.]+)", said)
    assert dict(worth) == {
        "101": "x 1.07",
        "102": "x 1.26",
        "103": "x 1.08",
        "104": "x 1.07",
        "105": "has no rate",
        "106": "x 1.25",
        "107": "x 1.09",
        "108": "x 1.09",
    }
    assert shown_in_the_readme() in said
    assert "1 order waits: the watermark is at 10:00:17; orders may be up to 3 s late" in said
    assert "9 orders and 7 rates arrived. 8 orders are final" in said


def test_the_screen_derives_the_watermark_from_the_input():
    screen, watermarks = Screen(Terminal(out=io.StringIO(), err=io.StringIO())), []
    for events in moments():
        for event in events:
            screen.came_in(event)
        watermarks.append(screen.watermark())

    seconds = [None if watermark is None else int(watermark[-2:]) for watermark in watermarks]
    assert seconds == [None, 0, 3, 6, 8, 8, 13, 17]
