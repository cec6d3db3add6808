"""Keeps Spark's own log off the user's screen."""

from __future__ import annotations

import logging
from pathlib import Path

LOG4J = Path(__file__).with_name("log4j2.properties")


def quiet_spark_config() -> dict[str, str]:
    """Settings for starting a Spark session that only logs serious problems.

    They take effect when the JVM starts. `TIDEMARK_SPARK_LOG=info` in the environment restores the
    log.
    """
    return {
        "spark.driver.extraJavaOptions": f'"-Dlog4j2.configurationFile={LOG4J.as_uri()}"',
        "spark.ui.showConsoleProgress": "false",
    }


def silence_query_context() -> None:
    """Stop PySpark from printing every exception as JSON before it raises it."""
    from pyspark.logger import PySparkLogger

    PySparkLogger.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
