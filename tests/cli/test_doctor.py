"""`tidemark doctor` without Spark: what it makes of versions, of Java, of other Pythons."""

from __future__ import annotations

import json
import sys
from importlib import metadata
from pathlib import Path

import pytest

from tests.cli.fakes import plain_terminal
from tidemark.cli import main
from tidemark.cli.doctor.findings import Finding, healthy, json_text, plain_text
from tidemark.cli.doctor.machine import check_java, check_worker_python
from tidemark.cli.doctor.packages import (
    check_connect,
    check_packages,
    requirements,
)


def test_requirements_of_extras_are_not_needed():
    texts = ["pyspark<4.4,>=4.2", "rich>=14", "pyspark[connect]>=4.2; extra == 'connect'"]

    assert [str(needed) for needed in requirements(texts)] == ["pyspark<4.4,>=4.2", "rich>=14"]


def test_requirements_of_another_python_are_not_needed():
    assert list(requirements(["tomli>=2; python_version < '3.11'"])) == []


@pytest.mark.parametrize(
    ("version", "status"),
    [("4.3.0", "ok"), ("4.3", "ok"), ("4.4.0", "missing"), ("4.2.0rc1", "missing")],
)
def test_versions_are_compared_as_pip_does(version, status):
    findings = {f.name: f.status for f in check_packages(installed(pyspark=version))}

    assert findings["pyspark"] == status


def installed(**versions: str):
    def version(name: str) -> str:
        if name not in versions:
            raise metadata.PackageNotFoundError(name)
        return versions[name]

    return version


def test_a_package_that_is_not_there_says_how_to_get_it():
    findings = {f.name: f for f in check_packages(installed(pyspark="4.1.4"))}

    assert findings["pyspark"].status == "missing"
    assert findings["pyspark"].detail.startswith("4.1.4, needs ")
    assert findings["sqlglot"].todo.startswith("pip install 'sqlglot")
    assert not healthy(list(findings.values()))


def test_spark_connect_is_optional():
    assert {f.status for f in check_connect(installed())} == {"optional"}
    assert healthy(list(check_connect(installed())))


def java_that_prints(folder: Path, text: str) -> dict[str, str]:
    program = folder / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{text}' >&2\n")
    program.chmod(0o755)
    return {"JAVA_HOME": str(folder)}


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ('openjdk version "17.0.15" 2025-04-15', "ok"),
        ('openjdk version "21" 2023-09-19', "ok"),
        ('java version "1.8.0_392"', "missing"),
        ('openjdk version "11.0.2" 2019-01-15', "missing"),
        ("no such thing", "warning"),
    ],
)
def test_java_must_be_17_or_newer(tmp_path, text, status):
    [finding] = check_java(java_that_prints(tmp_path, text))

    assert finding.status == status
    assert str(tmp_path) in finding.detail


def test_a_java_home_without_java_says_so(tmp_path):
    [finding] = check_java({"JAVA_HOME": str(tmp_path)})

    assert finding.status == "missing"
    assert "JAVA_HOME" in finding.todo


def test_workers_run_this_python_by_default(tmp_path):
    [unset] = check_worker_python({})
    [same] = check_worker_python({"PYSPARK_PYTHON": sys.executable})
    [absent] = check_worker_python({"PYSPARK_PYTHON": str(tmp_path / "python")})

    assert (unset.status, same.status, absent.status) == ("ok", "ok", "missing")


def test_another_python_version_for_workers_cannot_work(tmp_path):
    other = tmp_path / "python"
    other.write_text("#!/bin/sh\necho /usr 3 8\n")
    other.chmod(0o755)

    [finding] = check_worker_python({"PYSPARK_PYTHON": str(other)})

    assert finding.status == "missing"
    assert "Python 3.8" in finding.detail


def test_the_hint_follows_the_problem():
    findings = [
        Finding("Java", "java", "missing", "not on PATH", "install one"),
        Finding("Java", "other", "ok", "fine"),
    ]

    assert plain_text(findings, plain_terminal()).splitlines() == [
        "Java",
        "  missing   java   not on PATH",
        "                   to do: install one",
        "  ok        other  fine",
    ]


def test_the_report_as_json_says_whether_all_is_well():
    report = json.loads(json_text([Finding("Java", "java", "missing", "gone", "install one")]))

    assert report["ok"] is False
    assert report["findings"][0]["todo"] == "install one"


def test_doctor_without_spark_is_quick_and_names_the_connectors(capsys):
    assert main(["doctor", "--no-spark", "--json"]) == 0

    report = json.loads(capsys.readouterr().out)
    names = {finding["name"]: finding["status"] for finding in report["findings"]}
    assert names["pyspark"] == names["filesystem"] == names["jdbc"] == names["java"] == "ok"
    assert names["oracle-cdc"] == "optional"


@pytest.mark.spark
def test_doctor_starts_spark_and_asks_a_worker(spark):
    from tidemark.cli.doctor.spark_start import check_spark
    from tidemark.session.session import connect

    findings = list(check_spark(lambda: connect(spark)))

    assert [(f.name, f.status) for f in findings] == [("start", "ok"), ("worker", "ok")]
