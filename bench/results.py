"""Where results are saved: one JSON file per benchmark, with details of the machine, and a chart
of its ratios.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.chart import chart

RESULTS = Path(__file__).resolve().parent / "results"


def keep(name: str, content: Mapping[str, Any]) -> Path:
    """Write one benchmark's numbers; returns the file."""
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / f"{name}.json"
    file.write_text(json.dumps({**_circumstances(), **content}, indent=2) + "\n", encoding="utf-8")
    return file


def picture(name: str, title: str, bars: Mapping[str, float], limit: float | None = None) -> Path:
    """Write one benchmark's chart next to its numbers; returns the file."""
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / f"{name}.svg"
    file.write_text(chart(title, bars, limit), encoding="utf-8")
    return file


def _circumstances() -> dict[str, Any]:
    return {
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {
            "cores": os.cpu_count(),
            "load": round(os.getloadavg()[0], 1),
            "system": platform.platform(terse=True),
        },
        "versions": {name: version(name) for name in ("tidemark", "pyspark", "polars")}
        | {"python": platform.python_version()},
    }
