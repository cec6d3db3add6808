"""What a person would write by hand for the one-row scripts of `startup.py`; the rival there.

python -m bench.bare_spark values
python -m bench.bare_spark file FOLDER
"""

import sys

from pyspark.sql import DataFrame, SparkSession


def main(source: str, folder: str = "") -> None:
    spark = SparkSession.builder.master("local[*]").getOrCreate()
    if source == "values":
        spark.sql("SELECT * FROM VALUES (1, 'one') AS t (id, name)").show()
    else:
        stream = spark.readStream.schema("id INT, name STRING").json(folder)
        query = stream.writeStream.trigger(availableNow=True).foreachBatch(show).start()
        query.awaitTermination()
    spark.stop()


def show(batch: DataFrame, _number: int) -> None:
    for row in batch.collect():
        print(row.asDict())


main(*sys.argv[1:])
