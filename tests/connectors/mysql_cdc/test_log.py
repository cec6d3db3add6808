"""What a server sends of its log between two positions."""

from __future__ import annotations

import pytest

from servers.mysql import MySql
from tests.connectors import tables
from tests.connectors.mysql_cdc.streams import table
from tests.formats.test_binlog import event
from tidemark.connectors.mysql_cdc.captured import CapturedMysql
from tidemark.connectors.mysql_cdc.columns import log
from tidemark.connectors.mysql_cdc.columns.log import Logged, logged
from tidemark.connectors.mysql_cdc.positions import LogPosition
from tidemark.errors import DataError
from tidemark.formats import binlog as b
from tidemark.formats.binlog import EventBlock

HERE, LATER = LogPosition("log.1", 40), LogPosition("log.1", 50)


@pytest.fixture
def captured() -> CapturedMysql:
    nowhere = MySql(1, None)  # type: ignore[arg-type]
    declared = table(nowhere, "id INT, PRIMARY KEY (id) NOT ENFORCED", "t")
    return CapturedMysql.of(tables.columns_request(declared))


def test_a_log_that_goes_no_further_is_complete_up_to_where_it_was_read(monkeypatch, captured):
    # MySQL sends what the file's events look like, which for it ends at no position.
    form = Logged("log.1", 7, EventBlock.of([event(b.FORMAT, bytes(60))]))
    monkeypatch.setattr(log, "_sent", lambda *of: iter([form]))

    sent = list(logged(captured, HERE, HERE, reaches=True))

    assert [len(part.block) for part in sent] == [1]
    with pytest.raises(DataError, match=r"the log ends before log\.1:50"):
        list(logged(captured, HERE, LATER, reaches=True))
