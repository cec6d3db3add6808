"""The measurements measure what they say: their scripts are scripts."""

import tidemark
from bench.startup import long_script


def test_long_script_is_long_and_right():
    text = long_script(lines=200)
    assert text.count("\n") >= 200
    assert any(planned.plan for planned in tidemark.Workspace().plan_script(text))
