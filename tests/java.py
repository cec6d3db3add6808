"""How Java runs in the tests.

Each test asks for other plans, whose code runs once or twice. Java's best compiler would take a third of
all the time to make it fast, and be ready when it is not needed any more; its quick one is not.
"""

import os
from typing import Final

QUICK: Final = "-XX:+UseParallelGC -XX:TieredStopAtLevel=1"
# For Spark's driver; executors have an option of their own.
ON_DRIVER: Final = {"spark.driver.defaultJavaOptions": QUICK}
ON_EXECUTORS: Final = {"spark.executor.defaultJavaOptions": QUICK}


def everywhere() -> None:
    """Let each driver run so that a test starts in another process, as a user would start it."""
    os.environ.setdefault("SPARK_SUBMIT_OPTS", QUICK)
