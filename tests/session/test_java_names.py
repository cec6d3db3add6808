"""Classes of Java that PySpark need not look up again are the ones that it would find."""

from __future__ import annotations

from typing import TYPE_CHECKING

from py4j.java_gateway import JVMView

from tidemark.spark.java_names import USED_OFTEN

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_classes_are_there_and_java_finds_the_same(spark: SparkSession):
    java = spark.sparkContext._jvm

    kept = {name: vars(java)[name]._fqn for name in USED_OFTEN}

    assert kept == {name: JVMView.__getattr__(java, name)._fqn for name in USED_OFTEN}
