"""Settings in `spark-defaults.conf`, which Spark reads when it starts."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

_LINE = re.compile(r"\s*(?P<key>[^\s=:#!]+)(?:\s*[=:]\s*|\s+)(?P<value>.*?)\s*")


def spark_defaults(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The settings in the file that Spark is about to read; none if there is no file."""
    folder = environment.get("SPARK_CONF_DIR") or os.path.join(spark_home(environment), "conf")
    try:
        text = Path(folder, "spark-defaults.conf").read_text(encoding="utf-8")
    except OSError:
        return {}
    found = (_LINE.fullmatch(line) for line in text.splitlines())
    return {line["key"]: line["value"] for line in found if line}


def spark_home(environment: Mapping[str, str] = os.environ) -> Path:
    """SPARK_HOME, or PySpark's own package."""
    if home := environment.get("SPARK_HOME"):
        return Path(home)
    import pyspark

    return Path(pyspark.__file__).parent
