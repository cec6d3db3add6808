"""Window joins and coGroup from SQL and Python to rows: as one batch, and as a stream."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import tidemark
from tidemark import Session
from tidemark.errors import NotSupported, PlanError
from tidemark.session.verify import verify
from tidemark.windows import Cumulate, Hop, Tumble
from tidemark.windows import Session as Sessions

START = dt.datetime(2024, 1, 1)
TEN = Tumble("10 seconds", on="ts")


@pytest.fixture
def session(spark):
    session = tidemark.connect(spark)
    yield session
    session.stop()


def frame(session: Session, *rows: tuple[int, str | None, int]):
    """Rows as (id, who, second)."""
    timed = [(id_, who, START + dt.timedelta(seconds=second)) for id_, who, second in rows]
    return session.spark.createDataFrame(timed, "id INT, who STRING, ts TIMESTAMP_NTZ")


def second(moment: dt.datetime) -> int:
    return int((moment - START).total_seconds())


@pytest.fixture
def sides(session):
    left = frame(session, (1, "ann", 1), (2, "bob", 5), (3, "ann", 18), (4, None, 2))
    return left, frame(session, (11, "ann", 4), (12, "ann", 9), (13, "cid", 15), (14, None, 3))


# --- coGroup -----------------------------------------------------------------------------------


def told(key: dict[str, Any], left: pd.DataFrame, right: pd.DataFrame) -> pd.DataFrame:
    """The groups, in words."""
    ids = [",".join(map(str, side["id"])) for side in (left, right)]
    window = f"{key['window_start']:%S}-{key['window_end']:%S}"
    return pd.DataFrame({"who": [key["who"]], "window": [window], "l": ids[:1], "r": ids[1:]})


TOLD = "who STRING, window STRING, l STRING, r STRING"


def test_a_function_gets_the_rows_of_both_sides_of_each_key_and_window(sides):
    grouped = tidemark.co_group(*sides, told, on="who", window=TEN, schema=TOLD)

    assert {tuple(row) for row in grouped.collect()} == {
        ("ann", "00-10", "1", "11,12"),
        ("bob", "00-10", "2", ""),
        ("ann", "10-20", "3", ""),
        ("cid", "10-20", "", "13"),
        (None, "00-10", "4", "14"),
    }


def test_sessions_are_of_the_rows_of_both_sides(sides):
    left, right = (tidemark.stream(side, time="ts", delay="5 seconds") for side in sides)
    groups = (
        left.co_group(right).where("who").equal_to("who").window(Sessions("9 seconds", on="ts"))
    )

    assert {tuple(row) for row in groups.apply(told, TOLD).collect()} == {
        ("ann", "01-27", "1,3", "11,12"),
        ("bob", "05-14", "2", ""),
        ("cid", "15-24", "", "13"),
        (None, "02-12", "4", "14"),
    }


def test_a_function_may_return_any_rows_or_none(sides):
    def only_pairs(key, left, right):
        return left.merge(right, how="cross") if len(left) and len(right) else None

    schema = (
        "id_x INT, who_x STRING, ts_x TIMESTAMP_NTZ, id_y INT, who_y STRING, ts_y TIMESTAMP_NTZ"
    )
    pairs = tidemark.co_group(*sides, only_pairs, on="who", window=TEN, schema=schema)

    assert {(row.id_x, row.id_y) for row in pairs.collect()} == {(1, 11), (1, 12), (4, 14)}


def stream(session: Session, folder: Path, *rows: tuple[int, str, int]):
    """Rows as (id, who, second), read as a stream."""
    lines = [
        json.dumps({"id": i, "who": w, "ts": str(START + dt.timedelta(seconds=s))})
        for i, w, s in rows
    ]
    folder.mkdir()
    (folder / "a.json").write_text("\n".join(lines) + "\n")
    source = session.spark.readStream.schema("id INT, who STRING, ts TIMESTAMP_NTZ")
    return source.json(str(folder))


@pytest.fixture
def streams(session, tmp_path: Path):
    left = stream(session, tmp_path / "l", (1, "ann", 1), (2, "bob", 30))
    return left, stream(session, tmp_path / "r", (11, "ann", 4), (12, "bob", 31))


def first_batch(frame, folder: Path) -> list[tuple[Any, ...]]:
    """What a stream gives in the micro-batch that brings its rows."""
    batches: dict[int, list[tuple[Any, ...]]] = {}

    def collect(batch, number: int) -> None:
        batches[number] = [tuple(row) for row in batch.collect()]

    writer = frame.writeStream.option("checkpointLocation", str(folder / "checkpoint"))
    writer.trigger(availableNow=True).foreachBatch(collect).start().awaitTermination()
    assert not any(rows for number, rows in batches.items() if number)
    return batches[0]


def test_a_stream_is_grouped_when_its_watermark_closes_the_window(streams, tmp_path: Path):
    window = Sessions("9 seconds", on="ts")
    grouped = tidemark.co_group(*streams, told, on="who", window=window, schema=TOLD)

    # bob's session is not over: nothing is later than its rows.
    assert first_batch(grouped, tmp_path) == [("ann", "01-13", "1", "11")]


def test_pairs_are_emitted_in_the_micro_batch_that_closes_their_window(streams, tmp_path: Path):
    joined = tidemark.window_join(*streams, on="who", window=TEN).select("id", "id_right")

    assert first_batch(joined, tmp_path) == [(1, 11)]


# --- joins -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (TEN, {(1, 11, 0, 10), (1, 12, 0, 10)}),
        (Hop("10 seconds", "5 seconds", on="ts"),
         {(1, 11, 0, 10), (1, 12, 0, 10), (1, 11, -5, 5)}),
        (Sessions("9 seconds", on="ts"),
         {(1, 11, 1, 27), (1, 12, 1, 27), (3, 11, 1, 27), (3, 12, 1, 27)}),
    ],
)  # fmt: skip
def test_streams_join_in_the_words_of_flinks_stream_api(sides, window, expected):
    left, right = (tidemark.stream(side, time="ts") for side in sides)
    pairs = left.join(right).where("who").equal_to("who").window(window)
    rows = pairs.select("l.id", "r.id AS other", "window_start", "window_end").collect()

    assert {
        (row.id, row.other, second(row.window_start), second(row.window_end)) for row in rows
    } == expected


def test_pairs_go_through_a_function(sides):
    left, right = (tidemark.stream(side, time="ts") for side in sides)
    pairs = left.join(right).where("who").equal_to("who").window(TEN)

    def doubled(frame):
        return frame.assign(n=frame["id"] * 2)[["n"]]

    assert {row.n for row in pairs.apply(doubled, "n INT", "r.id").collect()} == {22, 24}


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("left", {(1, 11), (1, 12), (2, None), (3, None), (4, None)}),
        ("full", {(1, 11), (1, 12), (2, None), (3, None), (4, None), (None, 13), (None, 14)}),
    ],
)
def test_dataframes_join_by_windows(sides, how, expected):
    joined = tidemark.window_join(
        *sides, on="who", window=TEN, how=how, watermarks={"left": "5 seconds"}
    )

    assert joined.columns == [
        "id",
        "who",
        "ts",
        "id_right",
        "ts_right",
        "window_start",
        "window_end",
    ]
    assert {(row.id, row.id_right) for row in joined.collect()} == expected


def test_dataframes_keep_or_leave_out_rows_that_have_a_partner(sides):
    kept = tidemark.window_join(*sides, on="who", window=TEN, how="semi")
    left_out = tidemark.window_join(
        *sides, on="who", window=Cumulate("10 seconds", "5 seconds", on="ts"), how="anti"
    )

    assert [(row.id, second(row.window_end)) for row in kept.collect()] == [(1, 10)]
    assert {(row.id, second(row.window_end)) for row in left_out.collect()} == {
        (2, 10), (3, 20), (4, 5), (4, 10),
    }  # fmt: skip


def test_a_stream_returns_the_rows_of_the_batch(session, tmp_path: Path):
    for name in ("l", "r"):
        rows = [
            {"id": i, "who": "ab"[i % 2], "ts": str(START + dt.timedelta(seconds=i * 3))}
            for i in range(12)
        ]
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.json").write_text("\n".join(map(json.dumps, rows)) + "\n")
        session.sql(
            f"CREATE TABLE {name} (id INT, who STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) "
            f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/{name}', 'format' = 'json')"
        )
    tumble = "TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
    query = (
        f"SELECT l.id AS lid, r.id AS rid FROM {tumble.format('l')} AS l "
        f"LEFT JOIN {tumble.format('r')} AS r ON l.who = r.who AND l.id < r.id "
        "AND l.window_start = r.window_start AND l.window_end = r.window_end"
    )

    assert [found.equal for found in verify(session, query)] == [True]


def test_a_time_that_is_used_is_moved_once(
    session, sides, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, rows in zip("lr", sides, strict=True):
        session.register(name, rows, watermark="ts")
    tumble = "TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
    joined = session.sql(
        f"""SELECT l.id, l.ts, l.window_end, l.window_time, r.id AS other
        FROM {tumble.format("l")} AS l JOIN (
            SELECT id, who, ts AS came, window_start, window_end, window_time
            FROM {tumble.format("r")} WHERE id > 11
        ) AS r ON l.who = r.who AND l.window_start = r.window_start
        AND l.window_end = r.window_end AND r.came > l.ts"""
    ).to_dataframe()

    joined.explain()

    moved = [line for line in capsys.readouterr().out.splitlines() if "MapInArrow Pack(" in line]
    assert len(moved) == 2
    assert all(line.partition("Pack(")[2].partition(")")[0].count("#") == 4 for line in moved)
    end, last = START + dt.timedelta(seconds=10), START + dt.timedelta(seconds=9.999)
    assert [tuple(row) for row in joined.collect()] == [
        (1, START + dt.timedelta(seconds=1), end, last, 12)
    ]


def test_instants_meet_in_the_window_that_the_clock_of_the_session_shows(spark):
    #  the clock shows 02:30 at 00:30 and at 01:30, because 02:00 comes twice; 03:30 at 02:30
    session = tidemark.connect(spark, options={"table.local-time-zone": "Europe/Berlin"})
    for name, rows in {"l": [(1, "00:30"), (2, "02:30")], "r": [(11, "01:30")]}.items():
        timed = [(id_, dt.datetime.fromisoformat(f"2024-10-27T{at}:00+00:00")) for id_, at in rows]
        data = session.spark.createDataFrame(timed, "id INT, ts TIMESTAMP")
        session.register(name, data, watermark="ts")
    hour = "TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' HOUR))"
    pairs = session.sql(
        f"""SELECT a.id, b.id AS other, a.window_start, b.window_end
        FROM {hour.format("l")} AS a LEFT JOIN {hour.format("r")} AS b
        ON a.window_start = b.window_start AND a.window_end = b.window_end"""
    )

    two, three = (dt.datetime(2024, 10, 27, hour) for hour in (2, 3))
    rows = [tuple(row) for row in pairs.to_dataframe().collect()]
    assert sorted(rows) == [(1, 11, two, three), (2, None, three, None)]
    session.stop()


# --- what is refused ---------------------------------------------------------------------------


def test_missing_parts_are_named(sides):
    left, right = (tidemark.stream(side, time="ts") for side in sides)
    keyed = left.join(right).where("who").equal_to("who")

    with pytest.raises(PlanError, match="need time windows"):
        keyed.select("l.id")
    with pytest.raises(PlanError, match="same number of keys"):
        left.join(right).where("who").window(TEN).select("l.id")
    with pytest.raises(PlanError, match="`whom` does not exist"):
        left.join(right).where("whom").equal_to("who").window(TEN).select("l.id")
    with pytest.raises(NotSupported, match="early and late"):
        keyed.window(TEN.early_fire()).select("l.id")
    with pytest.raises(NotSupported, match="how='full' over session windows"):
        tidemark.window_join(*sides, on="who", window=Sessions("1 minute", on="ts"), how="full")
