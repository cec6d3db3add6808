"""The contract in a job's folder."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tidemark.checkpoints.contract import NAME, read, write
from tidemark.errors import JobError
from tidemark.storage import Location

from .contracts import contract

QUERY = "SELECT a.v, b.v AS other FROM a JOIN b ON a.k = b.k"


def test_a_contract_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = replace(contract(QUERY), readings=())
    write(Location.of(tmp_path / "job"), written)

    assert read(Location.of(tmp_path / "job")) == written
    assert [file.name for file in (tmp_path / "job").iterdir()] == [NAME]


def test_a_folder_in_which_nothing_has_started_has_none(tmp_path: Path) -> None:
    assert read(Location.of(tmp_path / "job")) is None


def test_operators_are_in_it_by_id_with_a_hash(tmp_path: Path) -> None:
    write(Location.of(tmp_path), contract(QUERY))

    said = json.loads((tmp_path / NAME).read_text())

    assert (said["format"], said["key_groups"], said["spark"]) == (1, 32, "4.3.0")
    [join] = said["operators"]
    assert (join["id"], len(join["hash"])) == ("regular-join-1", 16)
    assert join["rows"][1] == [{"name": "k", "type": "INT"}, {"name": "v", "type": "INT"}]


def test_a_job_without_operators_has_one_too(tmp_path: Path) -> None:
    write(Location.of(tmp_path), contract("SELECT k FROM a"))

    assert json.loads((tmp_path / NAME).read_text())["format"] == 1


def test_groups_and_partitions_stay_those_of_the_first_start() -> None:
    then = replace(contract(QUERY), key_groups=64, shuffle_partitions=8)

    now = then.goes_on_as(contract(f"{QUERY} WHERE b.v > 1"))

    assert (now.key_groups, now.shuffle_partitions) == (64, 8)


@pytest.mark.parametrize("content", ["", "[]", '{"format": 1}', "{"])
def test_a_damaged_contract_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / NAME).write_text(content)

    with pytest.raises(JobError, match=r"damaged|has format"):
        read(Location.of(tmp_path))


def test_a_contract_of_a_later_format_is_refused(tmp_path: Path) -> None:
    write(Location.of(tmp_path), replace(contract(QUERY), tidemark="9.9"))
    written = (tmp_path / NAME).read_text()
    (tmp_path / NAME).write_text(written.replace('{\n "format": 1', '{\n "format": 5'))

    with pytest.raises(JobError, match=r"has format 5.*\n  written by: Tidemark 9.9"):
        read(Location.of(tmp_path))


def test_a_contract_of_tables_that_are_read_together_has_a_format_of_its_own(
    tmp_path: Path,
) -> None:
    together = replace(contract(QUERY), readings=((0, 1), (2, 4)))
    write(Location.of(tmp_path), together)

    assert json.loads((tmp_path / NAME).read_text())["format"] == 2
    assert read(Location.of(tmp_path)) == together
    assert together.goes_on_as(contract(QUERY)).readings == ((0, 1), (2, 4))


def test_a_job_that_forgets_idle_keys_keeps_the_clock_with_which_it_has_started(
    tmp_path: Path,
) -> None:
    without = contract(QUERY, ttl_ms=1000)
    write(Location.of(tmp_path), without)
    written = json.loads((tmp_path / NAME).read_text())
    assert (written["format"], written.pop("retention_clock")) == (4, False)
    assert read(Location.of(tmp_path)) == replace(without, readings=())

    (tmp_path / NAME).write_text(json.dumps({**written, "format": 1}))
    with_clock = read(Location.of(tmp_path))
    assert with_clock is not None
    assert with_clock.goes_on_as(without) == with_clock
    assert with_clock.format == 1


@pytest.mark.parametrize(
    ("call", "format_"),
    [
        ("COUNT(v)", 1),
        ("MAX(v)", 1),
        ("COUNT(DISTINCT v)", 3),
        ("LISTAGG(DISTINCT w)", 1),
        ("COUNT(v) FROM (SELECT k, SUM(v) AS v", 1),
        ("MAX(v) FROM (SELECT k, SUM(v) AS v", 3),
    ],
)
def test_versions_that_keep_values_as_lists_cannot_resume_tables_of_them(
    tmp_path: Path, call: str, format_: int
) -> None:
    inner = "FROM a GROUP BY k, w) GROUP BY k" if "FROM" in call else "AS n FROM a GROUP BY k"
    grouped = contract(f"SELECT k, {call} {inner}")
    write(Location.of(tmp_path), grouped)

    assert json.loads((tmp_path / NAME).read_text())["format"] == format_
    assert read(Location.of(tmp_path)) == replace(grouped, readings=())


def test_distinct_values_of_windows_that_emit_once_are_kept_as_before() -> None:
    tumbling = contract(
        "SELECT COUNT(DISTINCT v) FROM TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '1' HOUR)"
        " GROUP BY window_start, window_end"
    )

    assert tumbling.format == 1


def test_nothing_was_read_together_where_the_contract_does_not_say_so(tmp_path: Path) -> None:
    write(Location.of(tmp_path), contract(QUERY))

    then = read(Location.of(tmp_path))

    assert then is not None
    assert then.readings == ()


@pytest.mark.parametrize("left_behind", ["query.json", "spark"])
def test_a_checkpoint_from_before_contracts_is_refused(tmp_path: Path, left_behind: str) -> None:
    (tmp_path / left_behind).mkdir()

    with pytest.raises(JobError, match="the number of key groups"):
        read(Location.of(tmp_path))
