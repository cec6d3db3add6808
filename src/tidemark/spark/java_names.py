"""The names of Java's classes that PySpark uses, looked up once.

PySpark asks Java for a class whenever it uses it, several times per column. Java then looks for a
class of that name in some ten packages, each time in all of Spark's jars: a tenth of the time that
it takes to plan a query.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

USED_OFTEN: Final = (
    "PythonSQLUtils",
    "PythonUtils",
    "SimplePythonFunction",
    "functions",
    "org.apache.spark.SparkFiles",
    "org.apache.spark.sql.Observation",
    "org.apache.spark.sql.api.python.PythonSQLUtils",
    "org.apache.spark.sql.catalyst.trees.PySparkCurrentOrigin",
    "org.apache.spark.sql.classic.SparkSession",
    "org.apache.spark.sql.classic.SparkSession$",
    "org.apache.spark.sql.execution.python.UserDefinedPythonFunction",
    "org.apache.spark.sql.functions",
)


def look_up(spark: SparkSession) -> None:
    """Keep the classes where Python looks for an attribute before it asks Java."""
    java = spark.sparkContext._jvm
    for name in USED_OFTEN:
        if name not in vars(java):
            setattr(java, name, getattr(java, name))
