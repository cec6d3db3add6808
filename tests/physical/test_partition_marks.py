"""Sources whose partitions have watermarks of their own, in physical plans."""

import pytest

import tidemark
from tidemark.physical import Operator, Settings, physical_plan
from tidemark.physical.stages import walk

TABLE = """CREATE TABLE {name} (id INT, text STRING, ts AS TO_TIMESTAMP(text),
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH ('connector' = 'kafka', 'topic' = 't', 'format' = 'json',
  'properties.bootstrap.servers' = 'nowhere:9092'{more})"""
COUNTS = (
    "SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE {of}, DESCRIPTOR(ts), "
    "INTERVAL '1' MINUTE)) GROUP BY window_start, window_end"
)


def planned(query, *, streaming=True, idle_ms=0, **tables):
    session = tidemark.connect(engine="local")
    for name, more in tables.items():
        session.sql(TABLE.format(name=name, more=more))
    [root] = session.workspace.dry_run(*parsed(query), "streaming").roots
    return physical_plan(root, Settings(idle_ms=idle_ms), streaming=streaming)


def parsed(query):
    from tidemark.dialect import parse_script

    script = parse_script(query, "<sql>")
    return script.statements[0], script.source


def watermarks(plan):
    """What the inputs of the first operator know of their watermarks."""
    operator = next(stage for stage in walk(plan.root) if isinstance(stage, Operator))
    return [given.watermark for given in operator.inputs]


def test_an_operator_follows_the_partitions_whatever_drops_rows():
    view = "(SELECT * FROM a WHERE id > 1)"
    plan = planned(f"SELECT x.id FROM {view} x JOIN b ON x.id = b.id AND x.ts = b.ts", a="", b="")
    marks = [known.marks.number for known in watermarks(plan)]
    assert sorted(marks) == [0, 1] == sorted(known.number for known in plan.marked)
    assert not any(known.declared for known in watermarks(plan))
    assert plan.keeps_notes


def test_the_scan_has_the_watermark_over_its_own_columns():
    plan = planned(COUNTS.format(of="a"), a="")
    [scan] = [
        stage.node for stage in walk(plan.root) if hasattr(stage, "node") and not stage.inputs
    ]
    assert "TO_TIMESTAMP" in str(scan.watermark)


@pytest.mark.parametrize(
    ("more", "expected"), [("", 5000), (", 'scan.watermark.idle-timeout' = '7 s'", 7000)]
)
def test_a_table_may_have_an_idle_timeout_of_its_own(more, expected):
    [known] = watermarks(planned(COUNTS.format(of="a"), a=more, idle_ms=5000))
    assert known.marks.idle_ms == expected


def test_a_batch_follows_no_watermark():
    bounded = ", 'scan.bounded.mode' = 'latest-offset'"
    plan = planned(COUNTS.format(of="a"), a=bounded, streaming=False)
    assert watermarks(plan) == [None] and plan.marked == ()
