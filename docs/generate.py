"""Writes the pages that are generated from the code: `make docs`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tidemark import connectors, functions
from tidemark.catalog import unsupported as of_catalogs
from tidemark.catalog.options import OPTIONS
from tidemark.connectors import OptionSpec
from tidemark.connectors import unsupported as of_connectors
from tidemark.connectors.formats import FORMATS
from tidemark.connectors.kafka import KAFKA, METADATA
from tidemark.connectors.postgres_cdc import POSTGRES_CDC
from tidemark.connectors.postgres_cdc import metadata as postgres_cdc
from tidemark.dialect import parse_type
from tidemark.dialect import unsupported as of_dialect
from tidemark.functions.arrow_types import to_arrow
from tidemark.functions.registry import Function, describe
from tidemark.plan import unsupported as of_plans
from tidemark.session import unsupported as of_sessions
from tidemark.spark.types import to_spark
from tidemark.types import DataType
from tidemark.unsupported import Unsupported, declared_in

DOCS = Path(__file__).resolve().parent

_OPENING = """\
# Built-in functions

Generated from the function tables by `make docs`. Function names are case-insensitive. A parameter
in brackets is optional, one with dots may be repeated; `string`, `int`, `bigint` and `double` also
accept types that convert to them without loss.
"""


def functions_page() -> str:
    """The reference of all built-in functions, by category, and of the unsupported ones."""
    return "\n".join([_OPENING, *_categories(), *_not_yet()])


def _categories() -> Iterator[str]:
    distinct = {function.name: function for function in functions.BUILT_IN.values()}
    yield f"{len(distinct)} functions and operators.\n"
    by_category: dict[str, list[Function]] = {}
    for function in distinct.values():
        by_category.setdefault(function.category or "operators", []).append(function)
    for category, members in sorted(by_category.items()):
        yield f"## {category.capitalize()}\n"
        yield "| function | result |\n| --- | --- |"
        yield "\n".join(_line(f) for f in sorted(members, key=lambda f: f.name)) + "\n"


def _line(function: Function) -> str:
    signatures = " or ".join(f"`{text}`" for text in describe(function).split(" or "))
    also = f" Also `{'`, `'.join(function.aliases)}`." if function.aliases else ""
    return f"| {_cell(signatures)} | {_cell(function.summary + also)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").strip()


def _not_yet() -> Iterator[str]:
    if functions.NOT_YET:
        yield "## Not supported\n"
        yield "| function | why |\n| --- | --- |"
        reasons = {name: declared.why or "" for name, declared in functions.NOT_YET.items()}
        yield "\n".join(f"| `{name}` | {_cell(why)} |" for name, why in sorted(reasons.items()))


# --- types -------------------------------------------------------------------------------------

_TYPES_OPENING = """\
# Types

Generated from the code by `make docs`. The table applies in both directions: to DataFrames that are
registered as tables, and to results.

| Flink SQL | Spark | Arrow | in Python |
| --- | --- | --- | --- |"""

_TYPES_CLOSING = """
- Lengths and precisions (`CHAR(n)`, `VARCHAR(n)`, `TIMESTAMP(p)`, `TIME(p)`) are kept by the plan:
  casts truncate to them. Spark's times have microseconds, so a precision above 6 is rejected.
- `TIMESTAMP` is wall-clock time without a time zone. `TIMESTAMP_LTZ` is an instant, displayed in
  the session time zone, `table.local-time-zone`.
- A `MULTISET` is a map from an element to how often it occurs.
- `NOT NULL` is part of a type, at any depth.
- As JSON (`tidemark run --output jsonl`) times are strings with at least three fractional
  digits, decimals are strings with their scale, bytes are Base64, NaN and infinities are strings.
"""

_EXAMPLES = {
    "BOOLEAN": "bool",
    "TINYINT": "int",
    "SMALLINT": "int",
    "INT": "int",
    "BIGINT": "int",
    "FLOAT": "float",
    "DOUBLE": "float",
    "DECIMAL(10, 2)": "decimal.Decimal",
    "CHAR(3)": "str",
    "VARCHAR(20)": "str",
    "STRING": "str",
    "BINARY(3)": "bytes",
    "BYTES": "bytes",
    "DATE": "datetime.date",
    "TIME(0)": "datetime.time",
    "TIMESTAMP(3)": "datetime.datetime without a zone",
    "TIMESTAMP_LTZ(3)": "datetime.datetime with a zone",
    "INTERVAL DAY TO SECOND": "datetime.timedelta",
    "INTERVAL YEAR TO MONTH": "int, a number of months",
    "ARRAY<INT>": "list",
    "MAP<STRING, INT>": "dict",
    "MULTISET<STRING>": "dict",
    "ROW<a INT, b STRING>": "dict",
}


def types_page() -> str:
    """Each Flink type with what it becomes in Spark, Arrow and Python."""
    rows = [
        f"| `{text}` | `{to_spark(type_).simpleString()}` | `{to_arrow(type_)}` | {python} |"
        for text, python in _EXAMPLES.items()
        for type_ in [parse_type(text)]
    ]
    return "\n".join([_TYPES_OPENING, *rows, _TYPES_CLOSING])


# --- options -----------------------------------------------------------------------------------

_OPTIONS_OPENING = """\
# Session options

Generated from the code by `make docs`. `SET 'key' = 'value'` in a script, `--set key=value` on the
command line, `options={...}` in Python. `spark.*` keys go to Spark; keys that only Flink's own
runtime reads are accepted without effect; SET prints a note.

| key | default | what it does |
| --- | --- | --- |"""


def options_page() -> str:
    """Every session option that Tidemark knows."""
    rows = [f"| `{o.key}` | {o.default or ''} | {_cell(o.summary)} |" for o in OPTIONS]
    return "\n".join([_OPTIONS_OPENING, *rows])


# --- connectors --------------------------------------------------------------------------------

_CONNECTORS_OPENING = """\
# Connectors and formats

Generated from the code by `make docs`. A table's `WITH` clause names a connector and its options.
They are checked when a statement uses the table (`tidemark check` checks unused tables too): the
error for an invalid value names the expected ones, the error for an unknown option suggests the
nearest one. `connector.type` and the other legacy keys are accepted too.

```sql
CREATE TABLE orders (id INT, item STRING, file STRING METADATA FROM 'file.name') WITH (
  'connector' = 'filesystem', 'path' = 'data/orders', 'format' = 'json',
  'json.ignore-parse-errors' = 'true'
);
```

Queries over bounded tables end by themselves; queries over unbounded ones run until they are
stopped. A record that does not match its table is an error that names the file, the record and the
reason, unless the format is set to ignore it.

## Paths

A path is a local one or a URI: `s3a://` (`s3://` means the same), `hdfs://`, `abfs://` and
`abfss://`. Tables can be read from any file system that Spark has; any other scheme is refused for
what is written: tables, [checkpoints and savepoints](checkpoints.md). Spark reads a URI with the
jars of its file system, for `s3a://` those of `org.apache.hadoop:hadoop-aws` in the version of
Spark's own Hadoop:

```sh
tidemark run job.sql --checkpoint s3a://bucket/state \\
  --set spark.jars.packages=org.apache.hadoop:hadoop-aws:3.5.0 \\
  --set spark.hadoop.fs.s3a.endpoint.region=eu-west-1
```

Tidemark writes through Arrow, with the same settings of the Spark session, and so it reads CSV from
S3 and Azure; a CSV file of another file system must not have more than 2 GB. These settings are
`fs.s3a.*` (keys, roles, endpoint, region, proxy, per bucket too), `fs.azure.account.*` and `dfs.*`.
What only Hadoop's XML files say, Arrow does not see, except for HDFS. Without keys it looks where
the SDKs of the clouds look. HDFS needs Hadoop's `libhdfs` and its `CLASSPATH` on every machine.

## Order of files

A batch reads files in order of name. A stream reads new files in order of their modification time:
all of them in one micro-batch, or as many as `source.max-files-per-batch` says. A file in a later
micro-batch is late by the watermark of those before it, so a backlog in one micro-batch has fewer
late rows than the same files had when they came one by one. With
`'source.max-files-per-batch' = '1'` it has the same.

Files may be compressed with gzip, bzip2 or zstd (`.gz`, `.bz2`, `.zst`). A large file that is not
is read in parts by several tasks.

As in Flink, only the columns that a query reads are converted. A bad value elsewhere in a record of
JSON or CSV is no error, and a CSV record may lack fields as long as it has as many as the query
reads columns. A query that reads none of the columns, such as `SELECT COUNT(*)`, reads the first.

A file must not change while it is read: write it under a hidden name, such as `.new`, and rename it
when it is complete. Workers and local runs refuse a file that changes meanwhile.

## Partitions

The folders of a table that is `PARTITIONED BY (day, shop)` are named as Flink names them:
`day=2024-01-02/shop=a%2Fb`, with `__DEFAULT_PARTITION__` for NULL and empty strings, and a
TIMESTAMP as `2024-01-02T10%3A00`. Of some types Flink cannot read the folders that it writes; here
a DATE is `2024-01-02`, a TIME `10%3A20%3A00`, a TIMESTAMP_LTZ `2024-01-02 10%3A00%3A00Z`, and BYTES
are in base 64.

Workers write columns as they have them, to a file for each task and partition. Spark writes
instead: Parquet files with TIME, or with both TIMESTAMP and TIMESTAMP_LTZ, ORC files with TIME or
TIMESTAMP_LTZ, Parquet files compressed with LZ4, raw values in other character sets than UTF-8,
rows that Spark has computed last, and partitions whose rows `auto-compaction` or
`sink.shuffle-by-partition.enable` bring together. `EXPLAIN` says who writes, and if it is Spark,
which column or option is to blame.

A column of a Parquet or ORC file is found by its name; one that the file lacks is NULL. In ORC
files a `TIMESTAMP` is written as ORC's own time, as Flink does; the BIGINT with microseconds that
Spark writes is read as well. These times are from 1677 to 2262, and before 1970 without fractions
of seconds; others are errors. If a table also has columns of a type that Flink does not write to
ORC, such as TIME or TIMESTAMP_LTZ, Spark writes it, with a BIGINT for each TIMESTAMP. Local runs
read `TIMESTAMP_LTZ` only from files that store instants.

## Changelogs in files

In `debezium-json`, `canal-json`, `maxwell-json` and `ogg-json` each line is an event with the rows
that a statement inserted, updated or deleted. An update is read as `-U` and `+U`. It is written as
Flink writes it: as two events, a delete of the row before it and an insert of the row after it.
So a query whose updates lack the rows before them cannot be written.

The `old` row of a Canal or Maxwell update contains only the fields that changed. As in Flink, a
field counts as changed if its name occurs anywhere in `old`, also below another field: its value
before the update is NULL then.

The metadata of events is read with all connectors: `db STRING METADATA FROM 'value.database'
VIRTUAL`. Flink's own filesystem connector does not provide it. What cannot be read as the type of
its column is NULL. `db_operation_time` is an older name for the time of the change.

## Messages in Avro

A message in `avro` is a record in the schema that follows from the table, as in Flink. In
`avro-confluent` and `debezium-avro-confluent` it begins with the ID of its schema, which a registry
knows: Confluent's, or one with the same protocol. Messages with several schemas may follow each
other; what their schemas lack is NULL. These two are formats of messages, not of files.

`schema` is one of Avro that the records are read with; it must have the columns of the table, and
what is not in a union with null is NOT NULL. With it, enums are read as strings. Its defaults are
not used: a record without the field is an error. Certificates may be in files of PEM or PKCS12, but
not of the older type JKS; PKCS12 needs `pip install 'tidemark[registry]'`.

Flink 2.3 reads a `TIMESTAMP(6)` of such messages as if its microseconds were milliseconds, in the
year 55972. In `avro`, with `'avro.timestamp_mapping.legacy' = 'false'`, it is read here as it was
written.

## Messages of Protocol Buffers

```sql
CREATE TABLE clicks (
  uid BIGINT, name STRING, kind STRING, tags ARRAY<STRING>,
  place ROW<lat DOUBLE, lon DOUBLE>, at_time ROW<seconds BIGINT, nanos INT>
) WITH (
  'connector' = 'kafka', 'topic' = 'clicks', 'format' = 'protobuf',
  'properties.bootstrap.servers' = 'localhost:9092', 'scan.startup.mode' = 'earliest-offset',
  'protobuf.message-class-name' = 'com.example.Click',
  'tidemark.protobuf.descriptor-file' = 'clicks.desc'
);
```

In `protobuf` a record is a message. Flink takes its fields from a class of Java; here they are in a
file that `protoc --include_imports --descriptor_set_out=clicks.desc clicks.proto` makes, and the
table names it in `tidemark.protobuf.descriptor-file`. The workers of a cluster need the file at
the same path. `protobuf.message-class-name` may remain as it is: the names of classes follow from
the options of the `.proto` file. The full name of a message will do, too, and its simple name if
there is only one. A column without a field in the message, or with another type, is an error.

| in the message | in the table |
|---|---|
| `string`, `bytes`, `bool`, `float`, `double` | `STRING`, `BYTES`, `BOOLEAN`, `FLOAT`, `DOUBLE` |
| `int32`, `uint32`, `sint32`, `fixed32`, `sfixed32` | `INT`: large ones are negative |
| `int64`, `uint64`, `sint64`, `fixed64`, `sfixed64` | `BIGINT`, the same |
| an enum | `STRING` for the names, or `INT`; here also other integers |
| a message, such as `google.protobuf.Timestamp` | `ROW`, here `ROW<seconds BIGINT, nanos INT>` |
| `repeated`, `map` | `ARRAY`, `MAP` |

As in Flink, what a message does not have is NULL, and so are arrays and maps without elements; but
in files with the syntax `proto3`, numbers, strings, bytes, flags and enums have their default, even
where they are `optional` or in a `oneof`. With `protobuf.read-default-values` everything has. A
number that an enum does not have is `UNRECOGNIZED` as a string and a bad record as a number, in
`proto3`. A NULL is not written; in arrays and maps, which cannot have it, it becomes the default,
or `protobuf.write-null-string-literal`. Of several columns of a `oneof`, the last one that is not
NULL is written.

A record without a value has no rows; in Flink, it is a bad one unless the connector is
`upsert-kafka`. As in Flink, files cannot have this format, and messages with the ID of a schema
before them, as Confluent's serializers write them, cannot be read.

## Sinks in Kafka

```sql
CREATE TABLE totals (
  currency STRING, total DECIMAL(20, 2), PRIMARY KEY (currency) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'totals',
  'properties.bootstrap.servers' = 'localhost:9092',
  'key.format' = 'json', 'value.format' = 'json',
  'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'totals-job'
);
```

Workers encode whole columns and send them with the library confluent-kafka; install
`tidemark[kafka]` where they run, too. `properties.*` have the names of Java's client or of
librdkafka, which has most of them. Key stores of Java cannot be read: use PEM files
(`properties.ssl.ca.location`). Of `sasl.jaas.config` the user name and the password are read. Equal
keys go to the same partitions as with Java's client.

A row's time and headers are its metadata columns `timestamp` and `headers`. If a table has several
topics, the metadata column `topic` says where a row goes.

By default rows are delivered **at least once**: each task sends its own rows, and a micro-batch
that comes again after a failure is sent again. **Exactly once**, a micro-batch is one transaction:
all tasks encode, one of them sends, and readers with `isolation.level=read_committed` see all of it
or nothing. The number of the micro-batch is noted in the transaction itself, as an offset of a
consumer group with the transaction's name, so a job that starts again knows whether its last
micro-batch was written.

- It needs the rights to use transactional IDs with the prefix, and to read groups with it.
- The note must outlive the time that a job is down after a failure: `offsets.retention.minutes` of
  the brokers, seven days by default.
- The name follows from `sink.transactional-id-prefix` and the path of the checkpoint. A job with a
  new checkpoint there writes from the beginning. One that goes on from an older copy is an error,
  because its rows are in the topic already.
- A transaction lasts as long as sending takes, at most `properties.transaction.timeout.ms`: ten
  minutes by default.

An `upsert-kafka` sink writes the last row of each key, and a record without a value where a row is
deleted. With `sink.buffer-flush.*` a micro-batch writes only the last change of each key.

## Rows that are made

Workers make the rows of `datagen`, `faker` and `nexmark` in columns, and bounded tables are made by
local runs too. A job that resumes makes the rows that are missing, with the values that they would
have had.

`faker` knows the functions of Datafaker that published queries use, `json` and `jsona` among them;
an error for another one names the nearest. Names, cities and companies are those of the Python
library Faker. A value is read as the type of its column, and times are those of UTC's clock, as in
Flink. Options of computed columns have no effect. A `faker` table cannot be looked up yet.

`nexmark` makes the events of the benchmark's own generator with a parallelism of one: kinds, IDs
and event times follow from the options; names, prices and the auctions of bids are random there,
and differ from run to run. Here they have the same distributions and are the same in each run,
unless `tidemark.seed` is another. With `tidemark.base-time` the times are the same too. The columns
must be those of Nexmark, under any names. Its function `count_char`, a class of Java, is known as
well. The queries are in `examples/nexmark`.

```sql
CREATE FUNCTION count_char AS 'com.github.nexmark.flink.udf.CountChar';
```

## Topics of Kafka

```sql
CREATE TABLE orders_in_kafka (
  id INT, amount INT, ts TIMESTAMP(3), part INT METADATA FROM 'partition',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka', 'topic' = 'orders', 'format' = 'json',
  'properties.bootstrap.servers' = 'localhost:9092', 'scan.startup.mode' = 'earliest-offset'
);
```

[Kafka](kafka.md) is a page to begin with. `pip install 'tidemark[kafka]'` brings Kafka's C client,
confluent-kafka; the workers of a cluster need it too. No jars are needed. Workers fetch records and
decode them as columns, which costs less CPU time than Spark's own source. A table with
`scan.bounded.mode` is read by batches and local runs, too.

Formats are `json`, `csv`, `raw`, `avro`, `avro-confluent`, `protobuf`,
`debezium-avro-confluent`, `debezium-json`, `canal-json`, `maxwell-json` and `ogg-json`, for keys
those without row kinds.
Options of formats are `json.*` for `format`, `value.json.*` for `value.format` and `key.json.*` for
`key.format`. An error names the topic, the partition and the offset of the bad record. As in Flink,
a record without a key has no rows if the table reads keys, and a column that is in keys and values
has what is in the value.

**Offsets** are in the checkpoint, where a job resumes. If the group `properties.group.id` is set
they are committed for it after each micro-batch, as a note for others. A job that resumes before
its first micro-batch starts where it would have started. Partitions that are added are read from
their beginning. If records that were not read yet are gone, because they were deleted or the topic
was made anew, the job fails; with `'tidemark.kafka.on-data-loss' = 'continue'` it goes on.

**Watermarks** are made by partition, as Flink makes them: the watermark of a table is the smallest
one of its partitions, so a partition that is behind makes no rows of others late, and a backlog
gives the same rows as live records did. A partition without rows holds it back, unless it has been
silent for `table.exec.source.idle-timeout` (or `scan.watermark.idle-timeout` of the table) and
others have not; if all are silent, the table holds back no other table. The watermark is known one
micro-batch after the rows. It must be an expression of built-in functions. On a cluster, workers
leave it in the checkpoint's folder, so a query that follows it needs a checkpoint that all reach.

**Settings.** `properties.*` are those of Java's client, as in Flink, and become those of the C
client. `sasl.jaas.config` is read for PLAIN and SCRAM; certificates must be PEM files (or a PKCS#12
keystore), because Java's own formats are Java's alone. Secrets are never shown.

`upsert-kafka` reads a topic as a table with a primary key: a record is an insert or an update of
its key, one without a value a delete. It begins at the first record.

## PostgreSQL

Connector `jdbc` reads and writes tables of PostgreSQL by Flink's options, without Java: rows come
and go as Arrow columns, by COPY in PostgreSQL's binary form. It needs `pip install
'tidemark[jdbc]'`. [PostgreSQL](postgresql.md) is a page to begin with.

**Reading.** A table ends, also in a stream, which reads it as it is in the first micro-batch. Only
the columns that a query reads are asked for. With `scan.partition.*` several workers read; as in
Flink, rows outside of the bounds are left out, and the ranges are not read at the same moment.
Conditions of a query are tested here, not in the database: for a small part of a large table, make
it a view there.

**Writing.** With a `PRIMARY KEY` rows are inserted, updated and deleted by it (`ON CONFLICT`; the
database must have the same key, or a unique index); without one they are added, and a query that
updates its rows is refused. Tasks copy their rows into a staging table beside the table, which
takes the right to create one (`GRANT CREATE ON SCHEMA`). When all have done so, one transaction
brings them into the table: all of a micro-batch, or of a batch job, or nothing. A micro-batch that
comes again after a failure changes nothing: where rows are added, the table `tidemark_batches` in
the same schema notes the last micro-batch of each job. Flink may add such rows twice. Changes of a
key may come from several tasks; what counts is the result of the query.

**Lookup joins.** In a [lookup join](sql.md#lookup-joins) the distinct keys of a batch of rows are
asked for in one query. Flink's older `lookup.cache.max-rows` and `lookup.cache.ttl`, if both are
set, mean a partial cache.

**Catalog.** `CREATE CATALOG` with `'type' = 'jdbc'` makes the databases of a server those of a
catalog, and their tables can be read and written. As in Flink, tables are listed with their schemas
(`public.orders`, which `orders` names too), and nothing can be created or dropped. A column whose
type Flink refuses is a `STRING`.

| PostgreSQL | Flink SQL |
| --- | --- |
| `smallint`, `integer`, `bigint` | `SMALLINT`, `INT`, `BIGINT`, or wider |
| `real`, `double precision` | `FLOAT`, `DOUBLE` |
| `numeric` and integers | `DECIMAL(p, s)`; rounded, and NULL if there are too many digits |
| `boolean`, `bytea`, `date` | `BOOLEAN`, `BYTES`, `DATE` |
| `text`, `varchar`, `char` | `STRING`, `VARCHAR(n)`, `CHAR(n)` |
| `time`, `timestamp`, `timestamptz` | `TIME(p)`, `TIMESTAMP(p)`, `TIMESTAMP_LTZ(p)` |
| an array of these | `ARRAY<...>` |
| any other, such as `uuid` and `jsonb` | `STRING`, as PostgreSQL writes it |

The columns of a table are found by name, those with capitals also if they are small in the
database. `'table-name'` is the name of a table, or schema and name with a point between; double
quotes keep points and capitals in them as they are.

| Flink SQL | writes into PostgreSQL |
| --- | --- |
| `TIMESTAMP`, `TIMESTAMP_LTZ` | `timestamp`, `timestamptz`; not the one into the other |
| `STRING` | any type, from the string that PostgreSQL reads |
| any other | what PostgreSQL converts in an INSERT; a value that does not fit is an error |

## MySQL

```sql
CREATE TABLE totals_in_mysql (
  customer STRING, amount DECIMAL(12, 2), PRIMARY KEY (customer) NOT ENFORCED
) WITH (
  'connector' = 'jdbc', 'url' = 'jdbc:mysql://localhost:3306/shop', 'table-name' = 'totals',
  'username' = 'me', 'password' = 'secret'
);
```

Connector `jdbc` reads and writes tables of MySQL and MariaDB by Flink's options. It needs `pip
install 'tidemark[mysql]'`, which brings PyMySQL. [MySQL](mysql.md) is a page to begin with. It is
tested against a MariaDB 10.11 server, but not against MySQL itself. What is said of
reading, writing and lookup joins with PostgreSQL is the same here, but for this:

- As in Flink, rows with a key are written by `INSERT ... ON DUPLICATE KEY UPDATE`, so any unique
  key of the table counts. The key of the DDL must be one of them, and the engine must be InnoDB.
- The staging table takes the rights to `CREATE` and `DROP` tables in the database.
- Keys of strings are compared as the database does when rows are written (`ann` updates `ANN` in a
  column that ignores case), and as SQL does in lookup joins, where only equal strings match.
- There are no catalogs and no arrays.

| MySQL | Flink SQL |
| --- | --- |
| `TINYINT`, `SMALLINT`, `MEDIUMINT`, `INT`, `BIGINT` | `TINYINT` ... `BIGINT`, or wider |
| `TINYINT UNSIGNED` ... `INT UNSIGNED` | the next wider type: `SMALLINT`, `INT`, `BIGINT` |
| `BIGINT UNSIGNED` | `DECIMAL(20, 0)` |
| `TINYINT(1)`, which `BOOLEAN` is, and `BIT(1)` | `BOOLEAN`; `TINYINT(1)` also `TINYINT` |
| `FLOAT`, `DOUBLE` | `FLOAT`, `DOUBLE` |
| `DECIMAL(p, s)`, and integers | `DECIMAL(p, s)`; rounded, and NULL if there are too many digits |
| `CHAR`, `VARCHAR`, `TEXT`, `ENUM`, `SET`, `JSON` | `STRING`, `VARCHAR(n)`, `CHAR(n)` |
| `BINARY`, `VARBINARY`, `BLOB` | `BYTES`, `BINARY(n)`, `VARBINARY(n)` |
| `DATE`, `TIME(p)`, `DATETIME(p)` | `DATE`, `TIME(p)`, `TIMESTAMP(p)` |
| `TIMESTAMP(p)` | `TIMESTAMP_LTZ(p)`; in Flink `TIMESTAMP(p)`, by the zone of the machine |
| any other, but shapes and `BIT(n)` | `STRING`, as MySQL writes it |

A value that Flink SQL does not have is an error when it is read, such as `0000-00-00` or
`25:00:00`. What is written is what MySQL converts in an INSERT in its strict mode; a value that
does not fit is an error.

The URL is one of MySQL's Java driver. Of its settings, `sslMode`, `useSSL`, `connectTimeout`,
`user` and `password` are understood; those that only say how the driver works have no effect, and
any other is an error. Names of columns are found in any case. `'table-name'` is the name of a
table, or database and name with a point between; backticks keep points in them as they are.

## SQLite

```sql
CREATE TABLE totals_in_sqlite (
  customer STRING, amount DECIMAL(12, 2), PRIMARY KEY (customer) NOT ENFORCED
) WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:shop.db', 'table-name' = 'totals');
```

Connector `jdbc` reads and writes SQLite files too, with Python's own `sqlite3`; Flink has no such
dialect. [SQLite](sqlite.md) is a page to begin with. What is said of reading, writing and lookup
joins with PostgreSQL is the same here, but for this: rows that a sink is sent wait in a file beside
the database, named after it, and there are no catalogs, users and arrays.

A column of SQLite has values of any type, so each value that is read is tested; one that is not of
its column's type is an error. Which values a column keeps as they are depends on its affinity,
which SQLite sees in the words of its type; what it would change is refused.

| Flink SQL | values in SQLite | columns that take them |
| --- | --- | --- |
| `BOOLEAN` | 0 and 1 | `BOOLEAN`, `INTEGER`, ... |
| `TINYINT`, `SMALLINT`, `INT`, `BIGINT` | integers | `INTEGER`, `BIGINT`, ... |
| `FLOAT`, `DOUBLE` | any numbers | `REAL`, `DOUBLE`, `NUMERIC`, ... |
| `DECIMAL(p, s)` | numbers, also as strings | `TEXT`; up to 15 digits also `DECIMAL(p, s)` |
| `STRING`, `VARCHAR(n)`, `CHAR(n)` | strings, numbers | `TEXT`, `VARCHAR(n)`, ... |
| `BYTES`, `BINARY(n)`, `VARBINARY(n)` | blobs | any |
| `DATE`, `TIME(p)` | `2024-05-01`, `09:00:00.5` | any |
| `TIMESTAMP(p)` | `2024-05-01 09:00:00.5`, also with `T` and without seconds | any |
| `TIMESTAMP_LTZ(p)` | the same in UTC, or with `Z` or an offset such as `+02:00` | any |

A decimal is rounded, and NULL if it has too many digits. A NaN is NULL. The word `STRING` makes a
column of numbers in SQLite: strings such as `007` would change there.

Times are written as strings without zeros at their end, as SQLite's own functions write them, so
they have the order of the times. Lookups, updates and deletes find a time by this string. A time
stored as a number, as other programs may leave it, is an error.

The names of tables and columns are found in any case. A table must have the same `PRIMARY KEY` as
in the DDL, or a unique index.

## Changes of PostgreSQL

Connector `postgres-cdc` reads a table and then its changes, by the options of Flink CDC's
connector. Nothing else must run: the database's own logical decoding (`pgoutput`, PostgreSQL 13 or
newer) is asked by SQL, in workers. It needs `pip install 'tidemark[jdbc]'`, and of the database
`wal_level = logical`, a user who may replicate and read the table, and a publication, which is
created if the user owns the table. [Changes of
PostgreSQL](postgresql-changes.md) is a page to begin with. Types are those of connector `jdbc`.

**Snapshot.** When a job starts, it creates the slot, reads the table in one transaction into files
in its checkpoint, and then reads what the log has from there on. Changes during the snapshot come
once: a transaction that the snapshot has is skipped. The first micro-batch has the rows of the
snapshot, all as inserts; the files are removed when it is committed.

**Changes.** A micro-batch has whole transactions, in the order of their commits: those in about 64
MB of the log. The slot advances when Spark has committed the micro-batch; one that comes again
after a failure has the same rows. If the slot was dropped, or has advanced without the job, changes
are lost, and the job says so instead of going on. So does a savepoint that is older than where the
slot is. While nothing happens in the table, the slot advances every `heartbeat.interval.ms`, so
that the database can clean up its log.

| change | `'changelog-mode' = 'all'` | `'upsert'` |
| --- | --- | --- |
| INSERT | `+I` | `+I` |
| UPDATE | `-U`, `+U` | `+U` |
| UPDATE of the key | `-D`, `+I` | `-D`, `+I` |
| DELETE | `-D` | `-D`, with the key |
| TRUNCATE | skipped, and counted | the same |

`all` needs the rows before changes: `ALTER TABLE t REPLICA IDENTITY FULL`. It is an error at once
if the table has another one; Flink fails at the first update. `upsert` needs a `PRIMARY KEY`, and
the job keeps the last row of each key. Then an update lacks large values that it does not touch
(TOAST), which is an error if the query reads the column, and FULL helps as well. A column may get a
type whose values fit; if they do not, or if it is renamed or dropped, the job ends with an error.

**Slots.** Each reader of a table needs its own. If a script reads the table several times, in
several `INSERT`s or in a join with itself, the first reader has the slot that is named, and the
others `name_2`, `name_3`, which stay theirs in their checkpoints. A slot that another run reads is
an error. A job that starts without a checkpoint replaces a
slot of the same name that nobody uses. Slots stay when a job has ended, so that it can go on, and
the database keeps its log for them. When it never will, drop the slot and the publication, which by
default has its name: `SELECT pg_drop_replication_slot('s'); DROP PUBLICATION s`.

Not as in Flink: `schema-name` and `table-name` are names, not patterns; snapshots are read by one
task, so that the options of incremental snapshots have no effect; and `debezium.*` is refused, but
for the publication.

## Delta and Iceberg

Connector `delta` reads and writes tables of Delta Lake, by the options of Flink's connector. No
jars are needed, because Delta's do not fit this Spark: delta-rs reads and writes the tables' logs
where the job is (`pip install 'tidemark[delta]'`), and workers read and write the data files, in
columns. [Delta and Iceberg](lake.md) is a page to begin with. Paths are local or [on S3](#paths),
with the settings of Spark; local runs and `tidemark doctor` look for credentials in the
environment.

**Reading.** A query reads the newest version that there is when it starts, or an older one.
Columns are found by name, whatever their case, and must have the type of the DDL or a narrower
one. Rows that deletion vectors delete are left out. Tables with features that could change rows
in other ways (column mapping, type widening) are refused by name.

**As a stream** (`'mode' = 'streaming'`) the first micro-batch has all rows of the newest version,
the following ones the files that new versions add; with `startingVersion` or `startingTimestamp`
only the latter. The version is in the checkpoint, where a job resumes. Versions that only move
rows to other files are passed over. One that deletes or changes rows is an error, which names it,
unless `ignoreDeletes` or `ignoreChanges` say what to do, as in Flink.

**Writing.** Tasks write files, and one version names all files of a batch or a micro-batch. It
also notes the job and the number of the micro-batch (`txn` in the log), so one that comes again
after a failure changes nothing. A table that does not exist is created when the job starts, with
the columns, partitions and `delta.*` properties of the DDL. With a `PRIMARY KEY`, which Flink's
connector does not have, rows are inserted, updated and deleted by it: the changes of a
micro-batch are collected where the job is, and merged there, which costs as much as the files
that they touch. `INSERT OVERWRITE` replaces the rows of a table without partitions and key, in
one version. An empty string in a partition column is NULL, by Delta's rules. Tables with
constraints, generated or identity columns are not written to.

| Flink SQL | Delta |
| --- | --- |
| `TINYINT`, `SMALLINT`, `INT`, `BIGINT` | `byte`, `short`, `integer`, `long` |
| `FLOAT`, `DOUBLE`, `DECIMAL(p, s)`, `BOOLEAN` | `float`, `double`, `decimal(p,s)`, `boolean` |
| `CHAR`, `VARCHAR`, `STRING`; `BINARY`, `VARBINARY`, `BYTES` | `string`; `binary` |
| `DATE` | `date` |
| `TIMESTAMP(p)`, `TIMESTAMP_LTZ(p)` | `timestamp_ntz`, `timestamp`, of microseconds |
| `ARRAY`, `MAP`, `ROW` | `array`, `map`, `struct` |
| `TIME`, `INTERVAL`, `MULTISET` | refused |

Connector `iceberg` reads and writes tables of Apache Iceberg, by the options of Flink's
connector: catalogs are asked and data files are read and written by pyiceberg (`pip install
'tidemark[iceberg]'`, also for workers). Catalogs are those of a folder (`'catalog-type' =
'hadoop'`; on S3 they are only read), of a database (`jdbc`, tested with SQLite), `rest`, `hive`
and `glue`, for which pyiceberg may need packages of its own. What pyiceberg does not read is
refused by name: equality deletes, which Flink itself writes when it upserts, have to be compacted
first.

A query reads the newest snapshot of `branch`, or that of `snapshot-id`, `as-of-timestamp` or
`tag`. With `'streaming' = 'true'` the first micro-batch has all rows of the newest snapshot, the
following ones what snapshots add; `start-snapshot-id`, `start-tag`, `start-snapshot-timestamp`
and `starting-strategy` begin elsewhere. A snapshot that changes or deletes rows is an error,
which names it; Flink passes over it silently, as `'tidemark.iceberg.skip-changes' = 'true'` does.

All files of a batch or a micro-batch are one snapshot, whose summary notes the job and the number
of the micro-batch, so one that comes again changes nothing. A table that does not exist is
created when the job starts, with the columns, the key and the partitions of the DDL, and its
database too. Rows are merged by the `PRIMARY KEY` if the query updates rows or `'upsert-enabled'
= 'true'`, by writing the files anew that have rows of the keys, where the job is. `INSERT
OVERWRITE` replaces the partitions that have new rows, or all rows of a table without partitions.
Types are as in Delta, with `TIME` besides; `TINYINT` and `SMALLINT` are kept as `int`.

**Time travel.** `SELECT ... FROM t FOR SYSTEM_TIME AS OF TIMESTAMP '2024-05-01 12:00:00'` reads a
table of either connector as it was then: its last version that is not after it. The time is one
of clocks in the session's zone, as in Flink, and may be followed by plus or minus an `INTERVAL`.
"""


_METADATA = {KAFKA.name: METADATA, POSTGRES_CDC.name: postgres_cdc.METADATA}


def connectors_page() -> str:
    """Every connector and format with its options, and those that are not supported yet."""
    parts = [_CONNECTORS_OPENING]
    for name, connector in connectors.REGISTRY.items():
        parts += [f"## {name}\n", f"{connector.summary}\n", *_options(connector.options)]
        parts += _metadata(_METADATA.get(name, {}))
    for name, format_ in FORMATS.items():
        parts += [f"## Format {name}\n", *_options(format_.options), *_metadata(format_.metadata)]
    parts += ["## Not supported yet\n", "| name | why |\n| --- | --- |"]
    for later in (of_connectors.CONNECTOR,):
        parts += [f"| `{name}` | {_cell(later.why or '')} |" for name in later.each]
    return "\n".join(parts)


def _options(specs: Sequence[OptionSpec]) -> Iterator[str]:
    if not specs:
        yield "No options.\n"
        return
    yield "| option | type | default | what it does |\n| --- | --- | --- | --- |"
    yield "\n".join(_option(spec) for spec in specs) + "\n"


def _metadata(keys: Mapping[str, DataType]) -> Iterator[str]:
    if keys:
        yield "| metadata | type |\n| --- | --- |"
        yield ("\n".join(f"| `{key}` | `{type_.text()}` |" for key, type_ in keys.items()) + "\n")


def _option(spec: OptionSpec) -> str:
    type_ = ", ".join(f"`{choice}`" for choice in spec.choices) or spec.type
    default = "required" if spec.required else "" if spec.default is None else f"`{spec.default}`"
    return f"| `{spec.name}` | {type_} | {default} | {_cell(spec.summary)} |"


# --- what is not supported -----------------------------------------------------------------------

_SQL_PAGE = DOCS / "sql.md"
_SECTION = re.compile(r"(<!-- Generated by `make docs`. -->\n).*?(<!-- End. -->)", re.DOTALL)


def sql_page() -> str:
    """The page on SQL, with what is not supported as the code declares it."""
    page = _SQL_PAGE.read_text(encoding="utf-8")
    generated = "\n".join(_unsupported())
    return _SECTION.sub(lambda found: f"{found[1]}\n{generated}\n{found[2]}", page)


def _unsupported() -> Iterator[str]:
    by_topic: dict[str, list[Unsupported]] = {}
    for feature in declared_in(of_plans, of_catalogs, of_dialect, of_connectors, of_sessions):
        by_topic.setdefault(feature.topic, []).append(feature)
    for topic, features in by_topic.items():
        yield f"### {topic}\n"
        yield "| | | why | instead |\n| --- | --- | --- | --- |"
        for feature in features:
            when = "not yet" if feature.comes_later else "no"
            for line in feature.documented():
                name, why, hint = (_cell(_escaped(part)) for part in line)
                yield f"| {name} | {when} | {why} | {hint} |"
        yield ""


def _escaped(text: str) -> str:
    return re.sub(r"([*<])", r"\\\1", text)


PAGES = {
    DOCS / "connectors.md": connectors_page,
    DOCS / "functions.md": functions_page,
    DOCS / "options.md": options_page,
    _SQL_PAGE: sql_page,
    DOCS / "types.md": types_page,
}


def main() -> None:
    for path, page in PAGES.items():
        path.write_text(page().rstrip("\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
