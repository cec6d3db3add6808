"""A record that made Spark fail is reported with file, line, record and reason."""

import gzip
import json

import pytest

from tidemark.connectors.records import data_error_from
from tidemark.errors import DataError


def failure(**facts):
    payload = json.dumps(facts).encode().hex().upper()
    return RuntimeError(f"[USER_RAISED_EXCEPTION] TIDEMARK_RECORD:{payload} SQLSTATE: P0001")


def test_other_failures_are_not_about_records():
    assert data_error_from(RuntimeError("out of memory")) is None


def test_the_line_of_a_bad_value_is_looked_up(tmp_path):
    file = tmp_path / "orders.json"
    file.write_text('{"id": 1}\n{"id": "x", "note": "y"}\n')

    error = data_error_from(
        failure(
            file=str(file),
            column="id",
            value="x",
            problem="cannot read `id` as INT",
            reason="no INT",
        )
    )

    assert isinstance(error, DataError)
    assert error.message == f"{file}:2  cannot read `id` as INT"
    assert error.notes == {"why": "no INT", "value": "'x'", "record": '{"id": "x", "note": "y"}'}


def test_a_value_deep_inside_a_column_is_found(tmp_path):
    file = tmp_path / "orders.json"
    file.write_text('{"r": {"a": [1, 2]}}\n{"r": {"a": [1, 2.50]}}\n')

    error = data_error_from(
        failure(file=str(file), column="r", value="2.50", problem="p", reason="r")
    )

    assert error.message.startswith(f"{file}:2 ")


def test_packed_files_are_looked_into(tmp_path):
    file = tmp_path / "orders.json.gz"
    file.write_bytes(gzip.compress(b'{"id": 1}\nbroken\n'))

    assert data_error_from(
        failure(file=str(file), record="broken", problem="p")
    ).message.startswith(f"{file}:2 ")


def test_the_problem_in_a_document_is_named(tmp_path):
    def reason(record):
        return data_error_from(failure(record=record, problem="p")).notes["why"]

    assert reason('{"a": 1').startswith("not valid JSON: Expecting")
    assert reason("17") == "not a JSON object"
    assert "structure" in reason('{"a": 1}')


def test_a_truncated_record_is_looked_up_completely(tmp_path):
    file = tmp_path / "orders.json"
    whole = '{"note": "' + "x" * 50 + '", "deep": ' + "[" * 2_000 + "]" * 2_000 + "}"
    file.write_text("{}\n" + whole + "\n")
    facts = {"record": whole[:40], "length": len(whole), "problem": "p"}

    here = data_error_from(failure(file=str(file), **facts))
    elsewhere = data_error_from(failure(file="s3a://bucket/orders.json", **facts))

    assert here.message == f"{file}:2  p"
    assert here.notes["why"] == "it is nested more than 1,000 deep"
    assert elsewhere.notes["why"] == (
        f"not valid JSON, beyond its first 40 characters; it has {len(whole):,}"
    )


def test_bytes_that_are_not_utf_8_do_not_hide_the_line(tmp_path):
    file = tmp_path / "orders.json"
    file.write_bytes(b'{"s": "\xc3\xa9"}\n{"s": "\xe2\x82\xff"}\n')

    error = data_error_from(failure(file=str(file), record='{"s": "\ufffd"}', problem="p"))

    assert error.message == f"{file}:2  p"


@pytest.mark.parametrize("line", ['{"r": ' + "[" * 100_000, "[" * 100_000 + "]" * 100_000])
def test_a_deeply_nested_record_does_not_hide_an_error(tmp_path, line):
    file = tmp_path / "orders.json"
    file.write_text(f'{line}\n{{"a": "x"}}\n')

    error = data_error_from(failure(file=str(file), column="a", value="x", problem="p"))

    assert error.message == f"{file}:2  p"


def test_long_records_are_shortened():
    notes = data_error_from(failure(record="x" * 5000, problem="p", reason="r")).notes

    assert len(notes["record"]) < 400


def test_a_file_that_is_gone_leaves_the_rest_of_the_message():
    error = data_error_from(
        failure(file="/nowhere/x.json", column="a", value="1", problem="p", reason="r")
    )

    assert error.message == "/nowhere/x.json  p"


def test_the_failure_is_found_among_its_causes():
    outer = ValueError("query stopped")
    outer.__cause__ = failure(problem="p", reason="r")

    assert data_error_from(outer) is not None
