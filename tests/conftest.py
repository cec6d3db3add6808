"""What all tests share: above all, one Spark session, because starting one takes ten seconds."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import generated_code, java, parts
from tests.needed import needed
from tests.searching import register_profiles

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from servers.kafka import Broker
    from servers.mysql import MySql
    from servers.postgres import Postgres
    from servers.s3 import Endpoint

register_profiles()
java.everywhere()


@pytest.fixture(scope="session")
def spark(request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """Local Spark with the settings that `tidemark.connect()` gives it."""
    from tidemark.spark import sharing

    two_cores = {"spark.master": "local[2]", "spark.sql.shuffle.partitions": "2"}
    yield sharing.join(request.session, {**two_cores, **java.on_driver()})
    sharing.leave(request.session)


@pytest.fixture(autouse=True)
def _runs_as_chosen(request: pytest.FixtureRequest) -> None:
    """Spark generates code, or interprets expressions: see `generated_code`."""
    if "spark" in request.fixturenames:
        asked = generated_code.asked_of(request.node)
        generated_code.choose(request.getfixturevalue("spark"), generated=asked)


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """An S3 endpoint on this machine, with a bucket named `bucket`."""
    from servers.s3 import endpoint

    with endpoint(tmp_path_factory.mktemp("s3") / "log") as here:
        here.make_bucket("bucket")
        yield here


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A Kafka broker on this machine. Skips where its jars cannot be had, but not in CI."""
    from servers.kafka import broker

    with ExitStack() as open_:
        with needed():
            here = open_.enter_context(broker(tmp_path_factory.mktemp("kafka")))
        yield here


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server on this machine. Skips where it is not installed, but not in CI."""
    from servers.postgres import server

    with ExitStack() as open_:
        with needed():
            here = open_.enter_context(server())
        yield here


@pytest.fixture(scope="session")
def mysql() -> Iterator[MySql]:
    """A server of MySQL's protocol on this machine. Skips where it is not installed, but not in CI."""
    from servers.mysql import server

    with ExitStack() as open_:
        with needed():
            here = open_.enter_context(server())
        yield here


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--part", help="run one part of the tests only, such as 1/2")
    parser.addoption("--all", action="store_true", help="the parts have the thorough tests, too")
    parser.addoption("--generate-code", action="store_true", help="Spark interprets no expressions")
    parser.addoption("--write-durations", type=Path, help="a file for the seconds of each group")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Whoever asks for Spark is marked so: `-m "not spark"` leaves the quick tests."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
    if part := config.getoption("--part"):
        _leave(part, config, items)


def _leave(part: str, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Only the tests of a part, and of the thorough ones none unless all are asked for."""
    named = {item.nodeid: item for item in items}
    if not config.getoption("--all"):
        items[:] = [item for item in items if not item.get_closest_marker("thorough")]
    ours = parts.of_part(_guesses(items), part, parts.recorded(), _kinds(items))
    config.hook.pytest_deselected(items=[named[test] for test in named.keys() - set(ours)])
    items[:] = [named[test] for test in ours]


def _guesses(items: list[pytest.Item]) -> dict[str, float]:
    """How long each test may take."""
    return {item.nodeid: 2.0 if item.get_closest_marker("spark") else 0.05 for item in items}


def _kinds(items: list[pytest.Item]) -> parts.Kinds:
    undisturbed = {item.nodeid for item in items if item.get_closest_marker("undisturbed")}
    heavy = {item.nodeid for item in items if any(map(item.get_closest_marker, ("spark", "slow")))}
    sharing = {item.nodeid for item in items if "kafka" in getattr(item, "fixturenames", ())}
    return parts.Kinds(undisturbed, {item.nodeid for item in items} - heavy, sharing)


_seconds: Counter[str] = Counter()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _seconds[report.nodeid] += report.duration


def pytest_sessionfinish(session: pytest.Session) -> None:
    file = session.config.getoption("--write-durations")
    if file is not None:
        file.write_text(json.dumps(parts.summed(_seconds), indent=0) + "\n", encoding="utf-8")
