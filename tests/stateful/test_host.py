"""The processor that Spark makes on its driver whenever a query with state starts."""

from __future__ import annotations

import subprocess
import sys

_ASKED_FOR_ITS_STATE = """
import sys
from tidemark.spark.stateful.host import Host

class Handle:
    asked = []
    def getValueState(self, name, schema): self.asked.append(name)
    def getMapState(self, name, key, value): self.asked.append(name)

Host("a bucket").init(Handle())
assert Handle.asked == ["manifest", "segments"]
print([name for name in ("polars", "pandas", "pyarrow", "numpy") if name in sys.modules])
"""


def test_asking_a_host_for_its_state_loads_none_of_the_libraries_that_rows_need() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _ASKED_FOR_ITS_STATE], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
