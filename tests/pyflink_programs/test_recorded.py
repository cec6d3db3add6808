"""Programs for PyFlink print the same here. What they print was recorded from PyFlink 2.3, by
`python program.py > program.out` for each file in `recorded`.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

import tidemark.pyflink  # noqa: F401 - makes `pyflink` importable
from tidemark.pyflink_programs.program_run import ProgramRun, around

RECORDED = Path(__file__).parent / "recorded"


@pytest.mark.parametrize("name", sorted(path.stem for path in RECORDED.glob("*.py")))
def test_a_program_prints_what_it_prints_with_pyflink(name, capsys):
    notes: list[str] = []
    local = ProgramRun(settings={"tidemark.engine": "local"}, note=notes.append)

    with around(local):
        runpy.run_path(str(RECORDED / f"{name}.py"), run_name="__main__")
        for session in local.sessions:
            session.stop()

    assert capsys.readouterr().out == (RECORDED / f"{name}.out").read_text()
