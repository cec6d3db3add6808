"""Connectors and formats of Flink that are not here yet, and what the ones here cannot do."""

from __future__ import annotations

from typing import Final

from tidemark.unsupported import NEVER, Unsupported

_CONNECTORS = "Connectors and formats"

CONNECTOR: Final = Unsupported(
    _CONNECTORS,
    "connector '{}'",
    why="its log cannot be read yet",
    each=dict.fromkeys(
        ("oracle-cdc", "sqlserver-cdc", "mongodb-cdc", "db2-cdc", "vitess-cdc"),
        "let Debezium write its changes to Kafka, and read them by 'connector' = 'kafka', "
        "'format' = 'debezium-json'",
    ),
)
OTHER_SYSTEM: Final = Unsupported(
    _CONNECTORS,
    "connector '{}'",
    each={
        **dict.fromkeys(
            ("hive", "hudi", "paimon", "fluss"),
            "use 'delta' or 'iceberg', or read its files with 'filesystem'",
        ),
        **dict.fromkeys(
            (
                *("elasticsearch-6", "elasticsearch-7", "elasticsearch-8", "elasticsearch"),
                *("opensearch", "opensearch-2", "doris", "starrocks", "clickhouse", "mongodb"),
                *("cassandra", "dynamodb", "kinesis", "firehose", "pulsar", "rabbitmq"),
                *("bigquery", "hologres", "odps"),
            ),
            "use its data source for Spark with 'connector' = 'spark', or go through Kafka; "
            "'connector' = 'print' shows the rows of a sink",
        ),
        **dict.fromkeys(
            ("hbase-1.4", "hbase-2.2", "redis", "http", "rest-lookup"),
            "find rows with a Python function, by 'connector' = 'python', or use its data source "
            "for Spark with 'connector' = 'spark'",
        ),
    },
    says=NEVER,
)
CDC_PATTERN: Final = Unsupported(
    _CONNECTORS,
    "a pattern as '{}'",
    why="an SQL table is one table of the database",
    hint="declare each table, and UNION ALL them",
    title="patterns as names of databases, schemas and tables of 'postgres-cdc' and 'mysql-cdc'",
    says=NEVER,
)
DEBEZIUM_SETTING: Final = Unsupported(
    _CONNECTORS,
    "'{}'",
    why="the connector reads the database itself, without Debezium",
    hint="leave it out",
    title="settings 'debezium.*', except for the publication of 'postgres-cdc', and those that "
    "change nothing",
    says=NEVER,
)
GTID_SET: Final = Unsupported(
    _CONNECTORS,
    "'{}'",
    why="the log is read by files and positions",
    hint="give 'scan.startup.specific-offset.file' and 'scan.startup.specific-offset.pos'",
    title="'scan.startup.specific-offset.gtid-set' of connector 'mysql-cdc'",
    says=NEVER,
)
DELAYED_COMMIT_OVER_CONNECT: Final = Unsupported(
    _CONNECTORS,
    "committing partitions after a delay over Spark Connect",
    why="nothing runs on the server between two micro-batches",
    hint="commit them at once, by 'process-time' without a delay",
    says=NEVER,
)
SCHEMA_TO_WRITE: Final = Unsupported(
    _CONNECTORS,
    "writing with the schema given",
    why="its unions have null last, or it has enums or values of fixed size",
    hint='write nullable fields as ["null", ...], and strings and bytes instead',
    title="writing with 'avro-confluent.schema' where it differs from the table's in its bytes",
)
MARKS_WITHOUT_CHECKPOINT: Final = Unsupported(
    _CONNECTORS,
    "the watermark of a Kafka table on a cluster without a checkpoint",
    why="workers store the watermarks of partitions in its folder",
    hint="give the job a checkpoint in a folder or bucket that all workers reach",
    says=NEVER,
)
NOTES_WITHOUT_CHECKPOINT: Final = Unsupported(
    _CONNECTORS,
    "connector '{}' on a cluster without a checkpoint",
    why="workers read the snapshot of the table from files in its folder",
    hint="give the job a checkpoint in a folder or bucket that all workers reach",
    title="connectors 'postgres-cdc' and 'mysql-cdc' on a cluster without a checkpoint",
    says=NEVER,
)
PARTITIONER_CLASS: Final = Unsupported(
    _CONNECTORS,
    "a class as 'sink.partitioner'",
    why="it is a Java class, and Python workers send the records",
    hint="use 'default', 'fixed' or 'round-robin'",
    says=NEVER,
)
EXACTLY_ONCE_BY_PATTERN: Final = Unsupported(
    _CONNECTORS,
    "exactly-once delivery with 'topic-pattern'",
    why="a micro-batch is noted at a topic, which must be known before its rows are",
    hint="list the topics in 'topic'",
)
ONE_WRITER_OVER_CONNECT: Final = Unsupported(
    _CONNECTORS,
    "exactly-once delivery to Kafka over Spark Connect",
    why="the server does not report which query a micro-batch belongs to",
    hint="use 'at-least-once', or Spark without Connect",
)
JDBC_SYSTEM: Final = Unsupported(
    _CONNECTORS,
    "connector 'jdbc' with {}",
    why="it reads and writes PostgreSQL, MySQL and SQLite",
    each=dict.fromkeys(
        ("mariadb", "oracle", "sqlserver", "derby", "db2", "crate", "trino"),
        "copy the table to PostgreSQL, or read it with Spark and register the DataFrame",
    ),
)
JDBC_CATALOG: Final = Unsupported(
    _CONNECTORS,
    "a catalog of type 'jdbc' with {}",
    why="it knows the tables of PostgreSQL and MySQL",
    each={"sqlite": "declare the tables with CREATE TABLE"},
)
JDBC_TYPE: Final = Unsupported(
    _CONNECTORS,
    "a column of type {} in connector 'jdbc'",
    why="the database has no such type; same in Flink",
    hint="write it as a string, with CAST or JSON_OBJECT",
    title="MAP, MULTISET, ROW, INTERVAL and nested arrays in connector 'jdbc'; arrays in other "
    "databases than PostgreSQL",
    says=NEVER,
)
LAKE_TYPE: Final = Unsupported(
    _CONNECTORS,
    "a column of type {} in a table of Delta or Iceberg",
    why="the table format has no such type",
    hint="write it as a string or a number, with CAST",
    title="TIME in Delta tables; INTERVAL and MULTISET in Delta and Iceberg tables",
    says=NEVER,
)
DELTA_FEATURE: Final = Unsupported(
    _CONNECTORS,
    "a Delta table with the feature '{}'",
    why="rows could be read or written wrongly without it",
    hint="read or write the table with Delta's own connector for Spark, on a Spark it fits",
    title="Delta tables with column mapping, type widening, variants or clustering by features "
    "that delta-rs does not know; writing those with generated or identity columns or constraints",
)
ICEBERG_CATALOG: Final = Unsupported(
    _CONNECTORS,
    "an Iceberg catalog '{}'",
    why="pyiceberg, which accesses catalogs, does not support this kind",
    hint="use 'hadoop', 'jdbc', 'rest', 'hive' or 'glue'",
    each={"nessie": "Nessie is also a REST catalog: 'catalog-type' = 'rest'", "dell": None},
    title="Iceberg catalogs of other kinds, by 'catalog-impl' or as 'nessie' or 'dell'",
)
