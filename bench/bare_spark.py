"""What one would write by hand for the one-row scripts of `startup.py`; the rival there.

python -m bench.bare_spark values
python -m bench.bare_spark file FOLDER
"""

import sys

from pyspark.sql import SparkSession


def main(source: str, folder: str = "") -> None:
    spark = SparkSession.builder.master("local[*]").getOrCreate()
    if source == "values":
        rows = spark.sql("SELECT * FROM VALUES (1, 'one') AS t (id, name)")
    else:
        rows = spark.read.schema("id INT, name STRING").json(folder)
    rows.show()
    spark.stop()


main(*sys.argv[1:])
