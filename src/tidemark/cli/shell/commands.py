"""The shell's commands besides SQL."""

from __future__ import annotations

import re
from typing import NamedTuple

HELP = """\
A statement ends with `;` and may span several lines.

  SELECT ...;            shows rows; an unbounded query is shown live
  INSERT INTO ...;       starts a job; an unbounded one continues in the background
  EXPLAIN ...;           shows a plan
  SHOW TABLES;           also VIEWS, FUNCTIONS, DATABASES, CATALOGS, COLUMNS FROM t, CREATE TABLE t
  DESCRIBE t;            the columns of a table or view
  SET;                   the options; SET 'key' = 'value'; changes one
  SHOW JOBS;             running and finished jobs
  SHOW WATERMARKS;       how far their sources have come, and which one rows wait for
  STOP JOB 'id';         stops a job; followed by WITH SAVEPOINT it also saves the state
  SOURCE file.sql;       runs a script
  CLEAR;                 clears the screen
  QUIT;                  exits, and stops what is still running

Tab completes, the arrow keys and Ctrl-R find earlier statements, Ctrl-C stops a running query or
discards what was typed, Ctrl-D exits.
"""

_COMMAND = re.compile(
    r"^\s*(?P<name>CLEAR|EXIT|HELP|QUIT|SOURCE|SHOW\s+JOBS|STOP\s+JOB)\b\s*(?P<argument>.*?)\s*;?\s*$",
    re.IGNORECASE | re.DOTALL,
)


_SAVING = re.compile(r"\s+WITH\s+SAVEPOINT$", re.IGNORECASE)


class Command(NamedTuple):
    """`name` is in upper case with single spaces; `argument` is without its quotes."""

    name: str
    argument: str


def read_command(text: str) -> Command | None:
    """The shell command on a line, or None if it is SQL."""
    found = _COMMAND.match(text)
    if found is None:
        return None
    name = " ".join(found["name"].upper().split())
    argument = found["argument"].strip()
    if name == "STOP JOB" and (saving := _SAVING.search(argument)):
        name, argument = "STOP JOB WITH SAVEPOINT", argument[: saving.start()]
    argument = argument.strip("'\"")
    if argument and name in ("CLEAR", "EXIT", "HELP", "QUIT", "SHOW JOBS"):
        return None
    return Command(name, argument)
