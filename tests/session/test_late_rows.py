"""Late rows on real Spark: what windows drop and what they count is all there was."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import tidemark
from tests.sink_files import written_rows
from tidemark.session.session import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Key, value and second, in order of arrival; the watermark is two seconds behind the latest.
ROWS = [
    ("a", 1, 1),
    ("b", 2, 4),
    ("a", 3, 12),
    ("a", 4, 9),
    ("b", 5, 30),
    ("a", 6, 8),
    ("a", 7, 28),
]
FILE = "WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/{name}')"
TUMBLE = "SELECT k, COUNT(*) FROM ev WHERE v <> 2 GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND)"
SESSION = "SELECT k, COUNT(*) FROM ev GROUP BY k, SESSION(ts, INTERVAL '3' SECOND)"


@pytest.fixture
def session(spark: SparkSession, tmp_path: Path) -> Session:
    lines = [
        json.dumps({"k": k, "v": v, "ts": str(datetime(2024, 5, 6, 10, 0, second))})
        for k, v, second in ROWS
    ]
    (tmp_path / "ev").write_text("\n".join(lines), encoding="utf-8")
    made = tidemark.connect(spark)
    columns = {
        "ev": "k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND",
        "counts": "k STRING, n BIGINT",
        "lates": "v INT, operator STRING, t TIMESTAMP(3), w TIMESTAMP(3), late_by BIGINT",
    }
    for name, declared in columns.items():
        made.sql(f"CREATE TABLE {name} ({declared}) {FILE.format(folder=tmp_path, name=name)}")
    return made


def test_rows_dropped_and_rows_counted_are_all_rows(session: Session, tmp_path: Path):
    result = session.sql(
        f"EXECUTE STATEMENT SET BEGIN INSERT INTO counts {TUMBLE}; INSERT INTO lates "
        "SELECT v, late_operator, late_time, late_watermark, late_by FROM ev$late; END"
    )
    result.job.wait()

    late = sorted(written_rows(tmp_path / "lates"), key=lambda row: row["v"])
    of_window = {"operator": "window-aggregate of k, TUMBLE(size 10 s)"}
    assert late == [
        {
            "v": 4,
            **of_window,
            "t": "2024-05-06 10:00:09",
            "w": "2024-05-06 10:00:10",
            "late_by": 1000,
        },
        {
            "v": 6,
            **of_window,
            "t": "2024-05-06 10:00:08",
            "w": "2024-05-06 10:00:28",
            "late_by": 20000,
        },
    ]
    counted = sum(row["n"] for row in written_rows(tmp_path / "counts"))
    assert counted + len(late) == sum(1 for _, v, _ in ROWS if v != 2)

    [operator] = result.job.progress().operators
    assert (operator.name, operator.late) == ("window-aggregate-1", (2,))
    assert result.job.progress().rows_out == len(written_rows(tmp_path / "counts")) + len(late)


def test_sessions_report_the_rows_they_drop_next_to_other_windows(session: Session, tmp_path: Path):
    session.sql(
        f"EXECUTE STATEMENT SET BEGIN INSERT INTO counts {SESSION}; INSERT INTO counts {TUMBLE}; "
        "INSERT INTO lates SELECT v, late_operator, late_time, late_watermark, late_by "
        "FROM ev$late; END"
    ).job.wait()

    late = Counter(row["operator"].split(", ")[1] for row in written_rows(tmp_path / "lates"))
    counted = sum(row["n"] for row in written_rows(tmp_path / "counts"))
    assert late == {"TUMBLE(size 10 s)": 2, "SESSION(gap 3 s)": 1}
    assert counted + late.total() == len(ROWS) + len(ROWS) - 1


def test_rows_too_late_for_their_session_are_late_even_if_nothing_is_aggregated(
    session: Session, tmp_path: Path
):
    rows = "TABLE(SESSION(TABLE ev PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' SECOND))"
    session.sql(
        f"EXECUTE STATEMENT SET BEGIN INSERT INTO counts SELECT k, v FROM {rows}; INSERT INTO "
        "lates SELECT v, late_operator, late_time, late_watermark, late_by FROM ev$late; END"
    ).job.wait()

    late = [(row["v"], row["operator"]) for row in written_rows(tmp_path / "lates")]
    assert late == [(6, "session-window of k, SESSION(gap 3 s)")]
    assert sorted(row["n"] for row in written_rows(tmp_path / "counts")) == [1, 2, 3, 4, 5, 7]


def test_late_rows_of_a_top_n_have_their_own_times(session: Session, tmp_path: Path):
    windows = "TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
    number = "ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY v)"
    session.sql(
        "EXECUTE STATEMENT SET BEGIN INSERT INTO counts SELECT k, n FROM "
        f"(SELECT *, {number} AS n FROM {windows}) WHERE n <= 9; INSERT INTO lates "
        "SELECT v, late_operator, late_time, late_watermark, late_by FROM ev$late; END"
    ).job.wait()

    late = sorted((row["v"], row["t"], row["late_by"]) for row in written_rows(tmp_path / "lates"))
    assert late == [(4, "2024-05-06 10:00:09", 1000), (6, "2024-05-06 10:00:08", 20000)]
    assert len(written_rows(tmp_path / "counts")) == len(ROWS) - 2


def test_late_rows_pass_operators_and_expressions_in_a_batch_too(session: Session, tmp_path: Path):
    counted = (
        "SELECT k, window_start, window_end, COUNT(*) AS n FROM "
        "TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' SECOND)) "
        "GROUP BY k, window_start, window_end"
    )
    # An expression that fails for rows whose columns are NULL, and one that is true for them.
    ranked = (
        "SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY m DESC) AS rn "
        "FROM (SELECT *, CAST(COALESCE(CAST(n AS STRING), 'none') AS BIGINT) AS m "
        f"FROM ({counted}) WHERE n IS NOT NULL)"
    )
    session.sql(
        "EXECUTE STATEMENT SET BEGIN "
        f"INSERT INTO counts SELECT k, m FROM ({ranked}) WHERE rn <= 5; INSERT INTO lates "
        "SELECT v, late_operator, late_time, late_watermark, late_by FROM ev$late; END"
    ).job.wait()

    late = sorted((row["v"], row["t"], row["late_by"]) for row in written_rows(tmp_path / "lates"))
    assert late == [(4, "2024-05-06 10:00:09", 1000), (6, "2024-05-06 10:00:08", 20000)]
    assert sum(row["n"] for row in written_rows(tmp_path / "counts")) == len(ROWS) - 2


def test_equal_operators_below_a_join_hand_out_each_late_row_once(session: Session, tmp_path: Path):
    counted = (
        "(SELECT k, window_start, window_end, COUNT(*) AS n FROM "
        "TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' SECOND)) "
        "GROUP BY k, window_start, window_end)"
    )
    result = session.sql(
        f"EXECUTE STATEMENT SET BEGIN INSERT INTO counts SELECT a.k, b.n FROM {counted} AS a "
        f"JOIN {counted} AS b ON a.k = b.k AND a.window_start = b.window_start "
        "AND a.window_end = b.window_end; INSERT INTO lates "
        "SELECT v, late_operator, late_time, late_watermark, late_by FROM ev$late; END"
    )
    result.job.wait()

    late = sorted((row["v"], row["t"], row["late_by"]) for row in written_rows(tmp_path / "lates"))
    assert late == [(4, "2024-05-06 10:00:09", 1000), (6, "2024-05-06 10:00:08", 20000)]
    assert sum(row["n"] for row in written_rows(tmp_path / "counts")) == len(ROWS) - 2
    assert len(result.job.runs) == 1


@pytest.mark.thorough
def test_late_rows_pass_unions_unnested_rows_and_windows_that_rows_are_put_into(
    session: Session, tmp_path: Path
):
    counted = (
        "SELECT window_time AS ts, k, COUNT(*) AS n FROM "
        "TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '{}' SECOND)) "
        "GROUP BY k, window_start, window_end, window_time"
    )
    session.sql(f"CREATE VIEW c AS {counted.format(10)} UNION ALL {counted.format(5)}")
    session.sql("CREATE VIEW d AS SELECT ts, k, n FROM c CROSS JOIN UNNEST(ARRAY[1, 2]) AS u (x)")
    number = "ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY n)"
    hop = "HOP(TABLE d, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '20' SECOND)"
    result = session.sql(
        "EXECUTE STATEMENT SET BEGIN INSERT INTO counts SELECT k, n FROM "
        f"(SELECT *, {number} AS rn FROM TABLE({hop})) WHERE rn <= 99; INSERT INTO lates "
        "SELECT v, late_operator, late_time, late_watermark, late_by FROM ev$late; END"
    )
    result.job.wait()

    late = sorted((row["operator"], row["v"]) for row in written_rows(tmp_path / "lates"))
    windows = [f"window-aggregate of k, TUMBLE(size {size} s)" for size in (10, 5)]
    assert late == [(window, v) for window in windows for v in (4, 6)]
    # Five windows of each size, each unnested into two rows, each in two windows.
    assert len(written_rows(tmp_path / "counts")) == 2 * 5 * 2 * 2
    assert len(result.job.runs) == 1


HOPPING = (
    "SELECT k, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k "
    "ORDER BY v) AS n FROM TABLE({}(TABLE ev, DESCRIPTOR(ts), INTERVAL '5' SECOND, "
    "INTERVAL '10' SECOND))) WHERE n <= 9"
)


def test_a_row_in_several_windows_or_grouping_sets_is_late_once(session: Session, tmp_path: Path):
    sets = (
        "SELECT k, COUNT(*) FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' SECOND)) "
        "GROUP BY window_start, window_end, GROUPING SETS ((k, v), (k), ())"
    )
    queries = [HOPPING.format("HOP"), HOPPING.format("CUMULATE"), sets]
    inserts = "".join(f"INSERT INTO counts {query}; " for query in queries)
    result = session.sql(
        f"EXECUTE STATEMENT SET BEGIN {inserts}INSERT INTO lates "
        "SELECT v, late_operator, late_time, late_watermark, late_by FROM ev$late; END"
    )
    result.job.wait()

    late = sorted((row["operator"], row["v"], row["t"]) for row in written_rows(tmp_path / "lates"))
    nine, eight = "2024-05-06 10:00:09", "2024-05-06 10:00:08"
    assert late == [
        ("window-aggregate of k, v, $set, TUMBLE(size 10 s)", 4, nine),
        ("window-aggregate of k, v, $set, TUMBLE(size 10 s)", 6, eight),
        ("window-rank of k, CUMULATE(size 10 s, step 5 s)", 4, nine),
        ("window-rank of k, CUMULATE(size 10 s, step 5 s)", 6, eight),
        # Second 9 is also in the window up to 15.
        ("window-rank of k, HOP(size 10 s, slide 5 s)", 6, eight),
    ]
    assert len(result.job.runs) == len(queries)


UNBOUNDED = """
CREATE TABLE ev (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/in',
      'source.monitor-interval' = '1');
CREATE TABLE counts (k STRING, n BIGINT) WITH (
  'connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/counts');
CREATE TABLE lates (v INT, operator STRING, w STRING, late_by BIGINT) WITH (
  'connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/lates');
"""


class Stream:
    """A statement set over files that come one after the other, with a checkpoint."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark, self._folder = spark, folder
        self._files = 0
        (folder / "in").mkdir()

    def run(self, script: str, *micro_batches: list[tuple[str, int, int]]) -> Counter[str]:
        """Start it, or let it go on, with a file for each micro-batch. Returns how many of the
        rows have been written to each table so far."""
        with tidemark.connect(self._spark, checkpoint=self._folder / "checkpoint") as session:
            session.sql(UNBOUNDED.replace("{folder}", str(self._folder)))
            runs = session.sql(script).job.runs
            for rows in micro_batches:
                self._write(rows)
                for run in runs:
                    run.query.processAllAvailable()
        return Counter(
            {name: len(written_rows(self._folder / name)) for name in ("counts", "lates")}
        )

    def _write(self, rows: list[tuple[str, int, int]]) -> None:
        self._files += 1
        lines = [
            json.dumps({"k": k, "v": v, "ts": str(datetime(2024, 5, 6, 10, 0, second))})
            for k, v, second in rows
        ]
        hidden = self._folder / "in" / f".{self._files:03}"
        hidden.write_text("\n".join(lines) + "\n", encoding="utf-8")
        hidden.rename(self._folder / "in" / f"{self._files:03}.json")


LATE = "SELECT v, late_operator, CAST(late_watermark AS STRING), late_by FROM ev$late WHERE v <> 9"


BEST = (
    "SELECT k, n FROM (SELECT k, n, ROW_NUMBER() OVER "
    "(PARTITION BY window_start, window_end ORDER BY n DESC) AS rn FROM "
    "(SELECT k, window_start, window_end, 10 / COUNT(*) AS n FROM "
    "TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' SECOND)) "
    "GROUP BY k, window_start, window_end) WHERE n > 0) WHERE rn <= 1"
)


@pytest.mark.thorough
def test_late_rows_of_an_aggregation_leave_the_query_through_the_top_n_above_it(
    spark: SparkSession, tmp_path: Path
):
    stream = Stream(spark, tmp_path)
    alone = f"EXECUTE STATEMENT SET BEGIN INSERT INTO counts {BEST}; END"
    both = alone.replace("END", f"INSERT INTO lates {LATE}; END")

    stream.run(alone, [("a", 1, 1), ("b", 2, 2), ("b", 3, 3), ("a", 4, 14)])
    # The job resumes with a reader, when the first window is over.
    stream.run(both, [("a", 5, 3), ("a", 9, 4), ("b", 6, 13), ("b", 7, 32)])
    # And without what is late again.
    done = stream.run(both, [("b", 8, 1), ("a", 10, 58)])

    late = sorted(written_rows(tmp_path / "lates"), key=lambda row: row["v"])
    assert [(row["v"], row["w"], row["late_by"]) for row in late] == [
        (5, "2024-05-06 10:00:12.000", 9000),
        (8, "2024-05-06 10:00:30.000", 29000),
    ]
    assert done["lates"] == 2
    counts = sorted((row["k"], row["n"]) for row in written_rows(tmp_path / "counts"))
    assert counts[:1] == [("a", 10)]
    assert [n for _, n in counts] == [10, 10, 10]
    assert not (tmp_path / "checkpoint" / "insert-into-lates").exists()


def test_a_separate_job_that_has_a_checkpoint_goes_on(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    stream = Stream(spark, tmp_path)
    script = f"EXECUTE STATEMENT SET BEGIN INSERT INTO counts {BEST}; INSERT INTO lates {LATE}; END"
    with monkeypatch.context() as patch:
        # As it was before late rows passed operators.
        patch.setattr("tidemark.plan.planner.handed_out", lambda roots, apart=(): tuple(roots))
        stream.run(script, [("a", 1, 14)])
    stream.run(script, [("a", 2, 3)])

    assert [row["v"] for row in written_rows(tmp_path / "lates")] == [2]
    kept = {job.name for job in tidemark.Checkpoint(tmp_path / "checkpoint").jobs}
    assert kept == {"insert-into-counts", "insert-into-lates"}
    checked = tidemark.Checkpoint(tmp_path / "checkpoint").check(
        UNBOUNDED.replace("{folder}", str(tmp_path)) + script
    )
    assert {outcome.outcome for outcome in checked} == {"kept"}


TWO_TABLES = """
CREATE TABLE {0} (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{{folder}}/{0}'{{unbounded}});
CREATE TABLE late_{0} (operator STRING, v INT, late_by BIGINT) WITH (
  'connector' = 'filesystem', 'format' = 'json', 'path' = '{{folder}}/late_{0}');
"""
RESULTS = """
CREATE VIEW united AS SELECT k, v, ts FROM l UNION ALL SELECT k, v, ts FROM r;
CREATE TABLE pairs (what STRING, l INT, r INT) WITH (
  'connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/pairs');
SET 'tidemark.interval-join.late-rows' = 'drop';
"""
ALONE = "EXECUTE STATEMENT SET BEGIN INSERT INTO pairs {query}; END"
WITH_READERS = """
EXECUTE STATEMENT SET BEGIN
  INSERT INTO late_l SELECT SPLIT_INDEX(late_operator, ' ', 0), v, late_by FROM l$late;
  INSERT INTO pairs {query};
  INSERT INTO late_r SELECT SPLIT_INDEX(late_operator, ' ', 0), v, late_by FROM r$late;
END
"""
SEVERAL = """
SELECT 'hop', l.v, r.v
FROM TABLE(HOP(TABLE l, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) AS l
FULL JOIN TABLE(HOP(TABLE r, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) AS r
ON l.k = r.k AND l.window_start = r.window_start AND l.window_end = r.window_end
UNION ALL
SELECT 'near', l.v, r.v FROM l JOIN r ON l.k = r.k
AND l.ts BETWEEN r.ts - INTERVAL '5' SECOND AND r.ts + INTERVAL '5' SECOND
UNION ALL
SELECT 'best', v, CAST(n AS INT) FROM (SELECT *, ROW_NUMBER() OVER (
  PARTITION BY window_start, window_end, k ORDER BY v) AS n FROM TABLE(CUMULATE(
  TABLE united, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))) WHERE n <= 1
"""
VERSIONS = """
CREATE VIEW versions AS SELECT k, v, ts FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM r) WHERE n = 1;
"""
AS_OF = """
SET 'tidemark.flink-version' = '2.4';
EXECUTE STATEMENT SET BEGIN
  INSERT INTO pairs SELECT 'as of', l.v, r.v FROM l
    LEFT JOIN versions FOR SYSTEM_TIME AS OF l.ts AS r ON l.k = r.k;
  {reader}
END
"""
LATE_LEFT = """
  INSERT INTO late_l SELECT SPLIT_INDEX(late_operator, ' ', 0), v, late_by FROM l$late WHERE v > 3;
"""
# By micro-batches. The watermark of both sides is 12 after the first one, and then 38.
BATCHES = [
    [("l", "a", 1, 1), ("r", "a", 11, 14), ("l", "b", 2, 20)],
    [
        *[("l", "a", 3, 5), ("l", "a", 6, 3), ("r", "a", 12, 9)],
        *[("l", "a", 4, 13), ("r", "c", 13, 40), ("l", "c", 5, 40)],
    ],
    [("r", "a", 14, 19)],
]


class TwoStreams:
    """Operators over two tables and readers of the late rows, over rows in files of their own."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark, self._folder = spark, folder
        for name in "lr":
            (folder / name).mkdir()

    def run(self, script: str, batches: list[list[tuple[str, str, int, int]]]) -> None:
        """Start it, or resume it."""
        unbounded = ", 'source.monitor-interval' = '1'"
        with tidemark.connect(self._spark, checkpoint=self._folder / "checkpoint") as session:
            self._write(batches[0])
            [run] = self._started(session, script, self._folder, unbounded).runs
            for rows in batches[1:]:
                run.query.processAllAvailable()
                self._write(rows)
            run.query.processAllAvailable()

    def _write(self, rows: list[tuple[str, str, int, int]]) -> None:
        for table, k, v, second in rows:
            row = {"k": k, "v": v, "ts": str(datetime(2024, 5, 6, 10, 0, second))}
            hidden = self._folder / table / f".{v}"
            hidden.write_text(json.dumps(row) + "\n", encoding="utf-8")
            hidden.rename(self._folder / table / f"{v}.json")

    def as_batch(self, results: Path) -> None:
        """All rows at once, with sinks in another folder."""
        results.mkdir()
        for name in "lr":
            (results / name).symlink_to(self._folder / name)
        session = tidemark.connect(self._spark)
        session.sql("SET 'execution.runtime-mode' = 'batch'")
        self._started(session, WITH_READERS, results, "").wait()

    def _started(self, session: Session, script: str, folder: Path, unbounded: str):
        declared = "".join(map(TWO_TABLES.format, "lr")) + RESULTS + VERSIONS
        script = declared.replace("{unbounded}", unbounded) + script.replace("{query}", SEVERAL)
        return session.sql(script.replace("{folder}", str(folder))).job


def values_of(folder: Path) -> list[tuple[int | None, ...]]:
    rows = [tuple(row.values()) for row in written_rows(folder)] if folder.exists() else []
    return sorted(rows, key=str)


def pairs_of(folder: Path) -> dict[str, list[tuple[int | None, ...]]]:
    found: dict[str, list[tuple[int | None, ...]]] = {}
    for what, *pair in values_of(folder):
        found.setdefault(str(what), []).append(tuple(pair))
    return found


@pytest.mark.thorough
def test_a_temporal_join_hands_out_the_late_left_rows_of_flink_2_4_to_a_reader_that_comes_later(
    spark: SparkSession, tmp_path: Path
):
    streams = TwoStreams(spark, tmp_path)
    streams.run(AS_OF.format(reader=""), BATCHES[:1])
    streams.run(
        AS_OF.format(reader=LATE_LEFT), [BATCHES[1], [("l", "a", 7, 30), ("r", "a", 14, 19)]]
    )

    # At 12, and then at 38: the row at 5 is late for the first reader too, which filters it.
    assert values_of(tmp_path / "late_l") == [
        ("temporal-join", 6, 9000),
        ("temporal-join", 7, 8000),
    ]
    # At 9, 12 is older than the newest row of its key, so it is no version.
    assert pairs_of(tmp_path / "pairs") == {"as of": [(1, None), (2, None), (4, None)]}


@pytest.mark.thorough
def test_a_union_of_operators_hands_out_late_rows_to_readers_that_came_later_and_none_in_a_batch(
    spark: SparkSession, tmp_path: Path
):
    streams = TwoStreams(spark, tmp_path)
    streams.run(ALONE, BATCHES[:1])
    streams.run(WITH_READERS, BATCHES[1:])

    # Seconds 5 and 9 are also in the window up to 15.
    assert values_of(tmp_path / "late_l") == [
        ("interval-join", 3, 7000),
        ("interval-join", 6, 9000),
        ("window-join", 6, 9000),
        ("window-rank", 3, 7000),
        ("window-rank", 6, 9000),
    ]
    assert values_of(tmp_path / "late_r") == [
        ("interval-join", 12, 3000),
        ("interval-join", 14, 19000),
        ("window-join", 14, 19000),
        ("window-rank", 12, 3000),
        ("window-rank", 14, 19000),
    ]
    in_first_windows = [(1, None), (1, None), (2, None), (2, None), (3, 11), (3, 12)]
    assert pairs_of(tmp_path / "pairs") == {
        "hop": [*in_first_windows, (4, 11), (4, 11), (4, 12)],
        "near": [(4, 11), (5, 13)],
        "best": [(value, 1) for value in (1, 1, 2, 2, 4, 4)],
    }

    streams.as_batch(tmp_path / "batch")
    assert pairs_of(tmp_path / "batch" / "pairs") == {
        "hop": sorted(
            [
                *[(1, 12), (1, None), (2, None), (2, None), (3, 11), (3, 12), (3, 12), (4, 11)],
                *[(4, 11), (4, 12), (4, 14), (5, 13), (5, 13), (6, 12), (6, None), (None, 14)],
            ],
            key=str,
        ),
        "near": [(3, 12), (4, 11), (4, 12), (5, 13)],
        "best": [(value, 1) for value in (1, 1, 2, 2, 4, 4, 5, 5)],
    }
    assert values_of(tmp_path / "batch" / "late_l") == []
    assert values_of(tmp_path / "batch" / "late_r") == []


def test_without_windows_a_row_at_or_behind_the_watermark_is_late(session: Session):
    rows = session.sql("SELECT v, late_operator, late_by FROM ev$late").rows()

    assert sorted((row["v"], row["late_by"]) for row in rows) == [(4, 1000), (6, 20000), (7, 0)]
    assert {row["late_operator"] for row in rows} == {"source"}


def test_an_operator_that_need_not_run_reports_nothing(session: Session):
    result = session.sql(f"SELECT * FROM ({TUMBLE}) WHERE FALSE")

    assert result.rows() == []
    assert result.job.progress().operators == ()


def test_a_live_table_follows_a_changelog_to_its_end(session: Session):
    table = session.sql("SELECT k, COUNT(*) AS n FROM ev GROUP BY k").live()
    table.wait()

    assert sorted((row["k"], row["n"]) for row in table.rows()) == [("a", 5), ("b", 2)]
    assert table.state == "finished"
