"""How often a stream looks for news."""

import pytest

import tidemark
from tests.physical.test_partition_marks import parsed
from tidemark.physical import Settings, physical_plan

FILES = """CREATE TABLE {name} (id INT, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = '/nowhere/{name}', 'format' = 'json' {more})"""
OTHERS = [
    FILES.format(name="slow", more=", 'source.monitor-interval' = '1 min'"),
    FILES.format(name="quick", more=", 'source.monitor-interval' = '5 s'"),
    FILES.format(name="whole", more=""),
    """CREATE TABLE topic (id INT, ts TIMESTAMP(3)) WITH ('connector' = 'kafka', 'topic' = 't',
      'format' = 'json', 'properties.bootstrap.servers' = 'nowhere:9092')""",
]
WINDOWS = "FROM TABLE(TUMBLE(TABLE slow, DESCRIPTOR({time}), INTERVAL '10' SECOND))"


@pytest.mark.parametrize(
    ("query", "every_ms"),
    [
        ("SELECT id FROM slow", 60_000),
        ("SELECT id FROM slow UNION ALL SELECT id FROM quick", 5_000),
        # Records of a topic are read as soon as they are there.
        ("SELECT id FROM slow UNION ALL SELECT id FROM topic", None),
        # A file that is read once asks for nothing, but rows may wait for its end.
        ("SELECT id FROM slow UNION ALL SELECT id FROM whole", 60_000),
        ("SELECT s.id FROM slow AS s JOIN whole AS w ON s.id = w.id AND s.ts = w.ts", 1_000),
        # Windows by the clock end while nothing comes.
        (f"SELECT COUNT(*) {WINDOWS.format(time='pt')} GROUP BY window_start, window_end", 250),
        (f"SELECT COUNT(*) {WINDOWS.format(time='ts')} GROUP BY window_start, window_end", 60_000),
    ],
)
def test_a_stream_looks_as_often_as_its_quickest_source_asks(query, every_ms):
    session = tidemark.connect(engine="local")
    for table in OTHERS:
        session.sql(table)
    [root] = session.workspace.dry_run(*parsed(query), "streaming").roots
    assert physical_plan(root, Settings(), streaming=True).looks_every_ms == every_ms
