"""Files, folders, globs, partitions and sinks on Spark."""

import datetime as dt
import gzip
import json
import lzma

import pytest

from tests.connectors.tables import datagen, files, read, request_of, rows, write
from tidemark.catalog.tables import Changelog
from tidemark.connectors.filesystem import file_parts
from tidemark.connectors.filesystem import rows as filesystem_rows
from tidemark.connectors.filesystem.connector import arriving
from tidemark.connectors.filesystem.places import Place
from tidemark.connectors.records import data_error_from
from tidemark.errors import DataError, OptionError, PlanError


def lines(path, *values):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f'{{"v": {value}}}\n' for value in values))


def streamed(spark, frame):
    """The rows of a stream over what is there now."""
    name = f"stream_{abs(hash(object()))}"
    query = frame.writeStream.format("memory").queryName(name).trigger(availableNow=True).start()
    query.awaitTermination()
    return spark.table(name)


def values(frame):
    return [row[0] for row in rows(frame)]


def test_files_are_read_by_name_with_their_rows_in_order(spark, tmp_path):
    lines(tmp_path / "b", 4, 5)
    lines(tmp_path / "a", 3, 1, 2)
    lines(tmp_path / "sub" / "c", 6)
    lines(tmp_path / "_hidden", 7)
    frame = read(spark, files("v INT", tmp_path))

    assert values(frame) == [3, 1, 2, 4, 5, 6]
    assert frame.rdd.getNumPartitions() == 1


ODD_NAMES = ["a b", "é%20+", "x*", "q[1]", "b{1}", "back\\slash", "semi;colon", "a=b"]


@pytest.mark.parametrize("streaming", [False, True])
def test_names_mean_themselves_whatever_they_hold(spark, tmp_path, streaming):
    folder = tmp_path / "odd [x] folder%41"
    for number, name in enumerate(ODD_NAMES):
        lines(folder / name, number)
    table = files("v INT, `file.name` STRING METADATA", folder)
    frame = read(spark, table, streaming=streaming)
    found = rows(streamed(spark, frame) if streaming else frame)

    assert sorted(found) == list(enumerate(ODD_NAMES))
    one = read(spark, files("v INT", folder / "x*"), streaming=streaming)
    assert values(streamed(spark, one) if streaming else one) == [2]


def test_a_stream_of_a_file_reads_nothing_that_is_beside_it(spark, tmp_path):
    file = tmp_path / "a,{b}[c].json"
    lines(file, 1)
    lines(tmp_path / "a", 2)
    lines(tmp_path / "partitioned/k=1/l=1/a", 3)
    lines(tmp_path / "other/k=1/a,{b}[c].json", 4)

    assert values(streamed(spark, read(spark, files("v INT", file), streaming=True))) == [1]


def test_files_of_a_stream_are_named_as_they_are(spark, tmp_path):
    folder = tmp_path / "odd [x] folder%41"
    for name in ODD_NAMES:
        lines(folder / name, 1)

    found = streamed(spark, arriving(request_of(spark, files("v INT", folder), streaming=True)))

    whole = [(str(folder / name), 0, None) for name in ODD_NAMES]
    assert sorted(rows(found)) == sorted(whole)


def test_tasks_share_a_large_file_of_a_stream_in_order(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(file_parts, "_SHARE", 10)
    lines(tmp_path / "large", *range(10))
    lines(tmp_path / "small", 1)
    (tmp_path / "packed.gz").write_bytes(gzip.compress(b'{"v": 1}\n' * 1000))
    size = (tmp_path / "large").stat().st_size
    streaming = arriving(request_of(spark, files("v INT", tmp_path), streaming=True))

    found = rows(streamed(spark, streaming.selectExpr("*", "spark_partition_id() AS task")))

    whole = [row[:3] for row in found if row[2] is None]
    assert sorted(whole) == [
        (str(tmp_path / "packed.gz"), 0, None),
        (str(tmp_path / "small"), 0, None),
    ]
    parts = sorted(row[1:] for row in found if row[2] is not None)
    assert [start for start, _, _ in parts] == [0, *(end for _, end, _ in parts[:-1])]
    assert parts[-1][1] == size
    assert len(parts) == -(-size // 10)
    assert len({task for *_, task in parts}) > 1
    assert [task for *_, task in parts] == sorted(task for *_, task in parts)


def test_a_glob_is_expanded(spark, tmp_path):
    lines(tmp_path / "a.json", 1)
    lines(tmp_path / "b.json", 2)
    lines(tmp_path / "c.txt", 3)

    assert values(read(spark, files("v INT", tmp_path / "*.json"))) == [1, 2]
    assert sorted(
        values(streamed(spark, read(spark, files("v INT", tmp_path / "*.json"), streaming=True)))
    ) == [1, 2]


def test_a_pattern_chooses_among_whole_paths(spark, tmp_path):
    lines(tmp_path / "a.json", 1)
    lines(tmp_path / "b.json", 2)
    table = files("v INT", tmp_path, source__path__regex_pattern=".*/a[.]json")

    assert values(read(spark, table)) == [1]
    assert values(streamed(spark, read(spark, table, streaming=True))) == [1]


def test_packed_files_are_unpacked(spark, tmp_path):
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(b'{"v": 1}\n'))

    assert values(read(spark, files("v INT", tmp_path))) == [1]


@pytest.mark.parametrize("ending", ["gzip", "xz"])
def test_compressed_files_that_spark_would_take_for_records_are_refused(spark, tmp_path, ending):
    (tmp_path / f"a.json.{ending}").write_bytes(gzip.compress(b'{"a": 1}\n'))
    table = files("a INT", tmp_path, json__ignore_parse_errors="true")

    with pytest.raises(DataError, match=f"a.json.{ending}  cannot read the file"):
        read(spark, table)


@pytest.mark.parametrize("format_", ["json", "raw"])
@pytest.mark.parametrize("streaming", [False, True])
def test_they_are_refused_in_a_stream_too_and_where_only_spark_lists_them(
    spark, tmp_path, monkeypatch, format_, streaming
):
    (tmp_path / "a.xz").write_bytes(lzma.compress(b'{"a": "b"}\n'))
    options = {"json__ignore_parse_errors": "true"} if format_ == "json" else {}
    table = files("a STRING", tmp_path, format_, **options)
    if not streaming:
        elsewhere = Place(f"file:{tmp_path}", local=False)
        monkeypatch.setattr(filesystem_rows, "existing", lambda table, options: elsewhere)

    frame = read(spark, table, streaming=streaming)

    with pytest.raises(Exception) as raised:
        rows(streamed(spark, frame) if streaming else frame)
    assert str(data_error_from(raised.value)).startswith(f"{tmp_path}/a.xz  cannot read the file")


def test_a_path_that_is_not_there_is_named(spark, tmp_path):
    with pytest.raises(OptionError, match=r"file or folder not found: .*/nope") as caught:
        read(spark, files("v INT", tmp_path / "nope"))
    assert caught.value.at is not None


def test_an_empty_folder_has_no_rows(spark, tmp_path):
    assert values(read(spark, files("v INT", tmp_path))) == []
    assert values(streamed(spark, read(spark, files("v INT", tmp_path), streaming=True))) == []


def test_metadata_describes_the_file(spark, tmp_path):
    lines(tmp_path / "a b.json", 1)
    columns = (
        "v INT, p STRING METADATA FROM 'file.path', n STRING METADATA FROM 'file.name',"
        " s BIGINT METADATA FROM 'file.size', m TIMESTAMP_LTZ(3) METADATA FROM 'file.modification-time'"
    )
    ((v, path, name, size, modified),) = rows(read(spark, files(columns, tmp_path)))

    assert (v, path, name, size) == (1, str(tmp_path / "a b.json"), "a b.json", 9)
    assert isinstance(modified, dt.datetime)


def test_a_bad_record_of_a_stream_is_reported_too(spark, tmp_path):
    from pyspark.errors import StreamingQueryException

    lines(tmp_path / "a.json", 1, '"x"')

    with pytest.raises(StreamingQueryException) as caught:
        streamed(spark, read(spark, files("v INT", tmp_path), streaming=True))

    assert data_error_from(caught.value).message == f"{tmp_path}/a.json:2  cannot read `v` as INT"


# --- sinks ------------------------------------------------------------------------------------


def test_partition_values_are_read_from_folder_names(spark, tmp_path):
    table = files(
        "v INT, k INT, l STRING, d DATE", tmp_path / "out", tail="PARTITIONED BY (k, l, d)"
    )
    frame = spark.sql(
        "SELECT * FROM VALUES (1, 1, 'x y', DATE'2024-01-01'), (2, 1, 'a/b=c', DATE'2024-01-02'),"
        " (3, NULL, 'é%+', NULL), (4, 2, '', DATE'2024-01-01') AS t(v, k, l, d)"
    )

    write(table, frame)

    folders = sorted(
        str(p.parent.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("part-*")
    )
    assert folders == [
        "k=1/l=a%2Fb%3Dc/d=2024-01-02",
        "k=1/l=x y/d=2024-01-01",
        "k=2/l=__DEFAULT_PARTITION__/d=2024-01-01",
        "k=__DEFAULT_PARTITION__/l=é%25+/d=__DEFAULT_PARTITION__",
    ]
    assert sorted(rows(read(spark, table))) == [
        (1, 1, "x y", dt.date(2024, 1, 1)),
        (2, 1, "a/b=c", dt.date(2024, 1, 2)),
        (3, None, "é%+", None),
        (4, 2, None, dt.date(2024, 1, 1)),
    ]


def test_times_in_folder_names_are_those_of_flink(spark, tmp_path):
    table = files("v INT, k TIMESTAMP(6)", tmp_path / "out", tail="PARTITIONED BY (k)")
    times = ["03:04:00", "03:00:00", "03:04:05", "03:04:05.12", "03:04:05.1204"]
    values = ", ".join(f"({n}, TIMESTAMP_NTZ'2024-01-02 {time}')" for n, time in enumerate(times))

    write(table, spark.sql(f"SELECT * FROM VALUES {values} AS t(v, k)"))
    (tmp_path / "out" / "k=2024-01-02 09%3A00%3A00").mkdir()  # as Tidemark wrote it before
    (tmp_path / "out" / "k=2024-01-02 09%3A00%3A00" / "f").write_text('{"v": 5}\n')

    folders = {path.parent.name for path in (tmp_path / "out").rglob("part-*")}
    names = ["03%3A04", "03%3A00", "03%3A04%3A05", "03%3A04%3A05.120", "03%3A04%3A05.120400"]
    assert folders == {f"k=2024-01-02T{name}" for name in names}
    found = dict(rows(read(spark, table)))
    assert [str(found[n])[11:] for n in range(6)] == [
        "03:04:00", "03:00:00", "03:04:05", "03:04:05.120000", "03:04:05.120400", "09:00:00"
    ]  # fmt: skip


def one(spark, value):
    return spark.sql(f"SELECT {value} AS v")


def test_inserts_append_and_overwrites_replace(spark, tmp_path):
    table = files("v INT", tmp_path / "out")

    write(table, one(spark, 1))
    write(table, one(spark, 2))
    assert values(read(spark, table)) == [1, 2]

    write(table, one(spark, 3), overwrite=True)
    assert values(read(spark, table)) == [3]


def test_overwriting_a_partition_leaves_the_others(spark, tmp_path):
    table = files("v INT, k INT", tmp_path / "out", tail="PARTITIONED BY (k)")

    write(table, spark.sql("SELECT * FROM VALUES (1, 1), (2, 2) AS t(v, k)"))
    write(table, spark.sql("SELECT 3 AS v, 2 AS k"), overwrite=True)

    assert sorted(rows(read(spark, table))) == [(1, 1), (3, 2)]


def test_a_repeated_batch_replaces_its_first_attempt(spark, tmp_path):
    table = files("v INT", tmp_path / "out")

    write(table, one(spark, 1), batch_id=0, job="j")
    write(table, one(spark, 2), batch_id=1, job="j")
    write(table, one(spark, 20), batch_id=1, job="j")
    write(table, one(spark, 9), batch_id=1, job="another")

    assert sorted(values(read(spark, table))) == [1, 9, 20]


def test_a_job_that_fails_after_its_write_does_not_duplicate_rows_when_it_resumes(spark, tmp_path):
    lines(tmp_path / "in" / "a", 1, 2)
    table = files("v INT", tmp_path / "out")

    def run(*, crash):
        def consume(frame, batch_id):
            write(table, frame, batch_id=batch_id)
            if crash:
                raise RuntimeError("crash here")

        stream = read(spark, files("v INT", tmp_path / "in"), streaming=True)
        starting = stream.writeStream.foreachBatch(consume).trigger(availableNow=True)
        starting.option("checkpointLocation", str(tmp_path / "state")).start().awaitTermination()

    with pytest.raises(Exception, match="crash here"):
        run(crash=True)
    assert values(read(spark, table)) == [1, 2]

    run(crash=False)
    assert values(read(spark, table)) == [1, 2]


def test_a_failed_write_leaves_nothing_behind(spark, tmp_path):
    table = files("v STRING", tmp_path / "out", "raw")

    with pytest.raises(Exception, match="TIDEMARK_RECORD"):
        write(table, spark.sql("SELECT STRING(NULL) AS v"))

    assert list((tmp_path / "out").iterdir()) == []


def test_no_rows_make_no_files(spark, tmp_path):
    for format_ in ("json", "csv", "parquet", "orc", "avro"):
        write(files("v INT", tmp_path / format_, format_), one(spark, 1).where("false"))
        assert list((tmp_path / format_).iterdir()) == []


def test_updates_cannot_be_written_to_files(spark, tmp_path):
    with pytest.raises(PlanError, match="accepts only inserts") as caught:
        write(files("v INT", tmp_path / "out"), one(spark, 1), changelog=Changelog.RETRACT)
    assert "print" in caught.value.hint


def test_a_success_file_marks_a_written_partition(spark, tmp_path):
    table = files(
        "v INT, k INT",
        tmp_path / "out",
        tail="PARTITIONED BY (k)",
        sink__partition_commit__policy__kind="success-file",
    )

    write(table, spark.sql("SELECT 1 AS v, 2 AS k"))

    assert (tmp_path / "out" / "k=2" / "_SUCCESS").exists()
    assert rows(read(spark, table)) == [(1, 2)]


ALL_TYPES = (
    "a BOOLEAN, b TINYINT, c SMALLINT, d INT, e BIGINT, f FLOAT, g DOUBLE, h DECIMAL(38, 9), i CHAR(3), j VARCHAR(5),"
    " k STRING, l BINARY(2), m BYTES, n DATE, o TIME(3), p TIMESTAMP(3), q TIMESTAMP_LTZ(3), r TIMESTAMP(6)"
)
OF_AVRO = ALL_TYPES.partition(", q TIMESTAMP_LTZ")[0]
NESTED = "s ARRAY<INT>, t MAP<STRING, DECIMAL(5, 2)>, u MULTISET<STRING>, v ROW<x DOUBLE, y ARRAY<ROW<z TIMESTAMP(3)>>>"
NULLS = {f"fields__{c}__null_rate": "0.2" for c in "abcdefghijklmnopqr"}
SOME_NESTED = {
    "fields__s__length": "2",
    "fields__v__x__null_rate": "0.5",
    "fields__s__element__null_rate": "0.3",
}


def as_json(frame):
    """Rows as documents: nested values of Spark's own compare poorly."""
    text = frame.selectExpr("to_json(struct(*), map('ignoreNullFields', 'false'))")
    return [json.loads(row[0]) for row in rows(text)]


@pytest.mark.parametrize(
    ("format_", "columns", "options"),
    [
        ("json", f"{ALL_TYPES}, {NESTED}", {}),
        ("json", f"{ALL_TYPES}, {NESTED}", {"json__timestamp_format__standard": "ISO-8601", "json__encode__ignore_null_fields": "true"}),
        ("csv", ALL_TYPES, {"csv__null_literal": "NULL"}),
        ("csv", ALL_TYPES, {"csv__null_literal": "NULL", "csv__field_delimiter": "|", "csv__quote_character": "~"}),
        ("avro", f"{OF_AVRO}, {NESTED}", {"avro__codec": "deflate"}),
        ("parquet", f"{ALL_TYPES}, {NESTED}", {}),
        ("orc", f"{ALL_TYPES}, {NESTED}", {}),
    ],
)  # fmt: skip
def test_random_rows_of_all_types_survive_a_round_trip(spark, tmp_path, format_, columns, options):
    nested = SOME_NESTED if NESTED in columns else {}
    nulls = {name: rate for name, rate in NULLS.items() if f", {name[8]} " in f", {columns}"}
    source = read(spark, datagen(columns, number_of_rows="200", **nulls, **nested)).persist()
    table = files(columns, tmp_path / "out", format_, **options)

    write(table, source)

    assert as_json(read(spark, table)) == as_json(source)
    source.unpersist()


def test_missing_columns_of_typed_files_are_null(spark, tmp_path):
    spark.sql("SELECT 1 AS a").write.parquet(str(tmp_path / "data"))

    assert rows(read(spark, files("a INT, b STRING", tmp_path / "data", "parquet"))) == [(1, None)]


# --- raw --------------------------------------------------------------------------------------


def test_raw_lines_are_values(spark, tmp_path):
    (tmp_path / "s").write_bytes(b"a b\n\nc\r\n")
    (tmp_path / "i").write_bytes(bytes([0, 0, 0, 1, 10, 255, 255, 255, 254, 10]))
    (tmp_path / "l").write_bytes(b"\xe9\n")
    (tmp_path / "f").write_bytes(b"\x3f\xc0\x00\x00\r\n")

    assert values(read(spark, files("v FLOAT", tmp_path / "f", "raw"))) == [1.5]
    assert values(read(spark, files("v STRING", tmp_path / "s", "raw"))) == ["a b", "", "c"]
    assert values(read(spark, files("v BYTES", tmp_path / "s", "raw"))) == [b"a b", b"", b"c"]
    assert values(read(spark, files("v INT", tmp_path / "i", "raw"))) == [1, -2]
    assert values(
        read(spark, files("v INT", tmp_path / "i", "raw", raw__endianness="little-endian"))
    ) == [16777216, -16777217]
    assert values(
        read(spark, files("v STRING", tmp_path / "l", "raw", raw__charset="ISO-8859-1"))
    ) == ["é"]


def test_a_raw_number_of_the_wrong_size_is_an_error(spark, tmp_path):
    (tmp_path / "i").write_bytes(b"abc\n")

    with pytest.raises(DataError, match="cannot read `v` as INT"):
        rows(read(spark, files("v INT", tmp_path / "i", "raw")))


@pytest.mark.parametrize(
    ("type_", "expression", "expected"),
    [
        ("STRING", "explode(array('a', 'é', ''))", b"a\n\xc3\xa9\n\n"),
        ("INT", "explode(array(1, 258))", b"\x00\x00\x00\x01\n\x00\x00\x01\x02\n"),
        ("BYTES", "X'00ff'", b"\x00\xff\n"),
        ("BOOLEAN", "true", b"\x01\n"),
        ("DOUBLE", "-2.5D", b"\xc0\x04\x00\x00\x00\x00\x00\x00\n"),
    ],
)
def test_raw_values_are_written_as_lines(spark, tmp_path, type_, expression, expected):
    write(files(f"v {type_}", tmp_path / "out", "raw"), spark.sql(f"SELECT {expression} AS v"))

    (file,) = (tmp_path / "out").iterdir()
    assert file.read_bytes() == expected
