"""CURRENT_WATERMARK in streams: it goes on from one micro-batch, and one run, to the next."""

from __future__ import annotations

import tidemark
from tests.sink_files import written_lines

EVENTS = """
CREATE TABLE events (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'json');
"""


def event(number: int, second: int) -> str:
    return f'{{"id": {number}, "ts": "2024-05-06 10:00:{second:02}"}}\n'


def test_a_stream_continues_with_the_watermark_that_it_had(spark, tmp_path):
    source, sink = tmp_path / "in", tmp_path / "out"
    source.mkdir()

    def run_once() -> list[str]:
        session = tidemark.connect(spark, checkpoint=tmp_path / "checkpoint")
        session.sql(
            EVENTS.format(source) + "CREATE TABLE snk (id INT, wm TIMESTAMP(3)) "
            f"WITH ('connector' = 'filesystem', 'path' = '{sink}', 'format' = 'json')"
        )
        session.sql(
            "INSERT INTO snk SELECT id, CURRENT_WATERMARK(ts) FROM events "
            "WHERE CURRENT_WATERMARK(ts) IS NULL OR ts > CURRENT_WATERMARK(ts)"
        ).job.wait()
        return sorted(written_lines(sink))

    # The rows of a folder come in no order: all have the watermark before their micro-batch.
    (source / "a.json").write_text(event(1, 30) + event(2, 10))
    first = ['{"id":1,"wm":null}', '{"id":2,"wm":null}']
    assert run_once() == first
    (source / "b.json").write_text(event(3, 25) + event(4, 50) + event(5, 26))
    wm = "2024-05-06 10:00:25"
    assert run_once() == [*first, f'{{"id":4,"wm":"{wm}"}}', f'{{"id":5,"wm":"{wm}"}}']


def test_windows_drop_late_rows_below_which_the_watermark_was_selected(spark, tmp_path):
    source = tmp_path / "events.json"
    source.write_text(event(1, 0) + event(2, 30) + event(3, 9) + event(4, 27))
    with tidemark.connect(spark, checkpoint=tmp_path / "checkpoint") as session:
        session.sql(
            EVENTS.format(source)
            + "CREATE VIEW marked AS SELECT *, CURRENT_WATERMARK(ts) AS wm FROM events"
        )
        counted = session.sql(
            "SELECT COUNT(*) AS n, COUNT(wm) AS marked "
            "FROM TABLE(TUMBLE(TABLE marked, DESCRIPTOR(ts), INTERVAL '10' SECOND)) "
            "GROUP BY window_start, window_end"
        )
        found = sorted((row["n"], row["marked"]) for row in counted.rows())

    assert found == [(1, 0), (1, 1), (1, 1)]
