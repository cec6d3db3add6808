"""What sources are asked for."""

from types import SimpleNamespace
from typing import Any

import pytest

from tidemark.errors import NotSupported
from tidemark.physical.watermarks import followed_by_partition
from tidemark.plan.nodes import AssignWatermark, Scan, walk
from tidemark.session.sources import marks_of
from tidemark.session.workspace import Workspace
from tidemark.spark.builder import StateSettings

SCRIPT = """
CREATE TABLE orders (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'kafka', 'topic' = 'orders', 'format' = 'json',
  'properties.bootstrap.servers' = 'b:9092', 'scan.startup.mode' = 'earliest-offset');
SELECT TUMBLE_START(ts, INTERVAL '1' HOUR), COUNT(*) FROM orders GROUP BY TUMBLE(ts, INTERVAL '1' HOUR);
"""


def test_workers_of_a_cluster_need_a_folder_for_the_watermarks_of_partitions():
    *_, planned = Workspace().plan_script(SCRIPT)
    [root] = planned.plan.roots
    [followed] = [node for node in walk(root) if isinstance(node, AssignWatermark)]
    [scan] = [node for node in walk(followed_by_partition(followed)) if isinstance(node, Scan)]
    builder: Any = SimpleNamespace(streaming=True, state=StateSettings(shared=False))

    with pytest.raises(
        NotSupported, match=r"without a checkpoint is not supported \(table `orders`\)"
    ):
        marks_of(scan, builder)
