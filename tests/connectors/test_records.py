"""A record that made Spark fail is told with file, line, record and reason."""

import gzip
import json

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


def test_what_is_wrong_with_a_document_is_said(tmp_path):
    def reason(record):
        return data_error_from(failure(record=record, problem="p")).notes["why"]

    assert reason('{"a": 1').startswith("not valid JSON: Expecting")
    assert reason("17") == "not a JSON object"
    assert "structure" in reason('{"a": 1}')


def test_long_records_are_shortened():
    notes = data_error_from(failure(record="x" * 5000, problem="p", reason="r")).notes

    assert len(notes["record"]) < 400


def test_a_file_that_is_gone_leaves_the_rest_of_the_message():
    error = data_error_from(
        failure(file="/nowhere/x.json", column="a", value="1", problem="p", reason="r")
    )

    assert error.message == "/nowhere/x.json  p"


def test_the_failure_is_found_behind_others():
    outer = ValueError("query stopped")
    outer.__cause__ = failure(problem="p", reason="r")

    assert data_error_from(outer) is not None
