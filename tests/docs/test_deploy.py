"""The image and the manifest for Kubernetes agree with the code; nothing here runs containers."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from tidemark.cli.app import app

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text()
ENTRYPOINT = ROOT / "deploy" / "entrypoint"
PARTS = {
    part["kind"]: part
    for part in yaml.safe_load_all((ROOT / "deploy" / "kubernetes" / "job.yaml").read_text())
}


def driver() -> dict[str, Any]:
    [found] = PARTS["Deployment"]["spec"]["template"]["spec"]["containers"]
    return dict(found)


def test_the_image_copies_what_there_is_and_installs_extras_that_exist() -> None:
    copied = [line.split()[1:-1] for line in DOCKERFILE.splitlines() if line.startswith("COPY ")]
    assert all((ROOT / name).exists() for names in copied for name in names)

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    [installed] = re.findall(r"'\.\[(.*?)\]'", DOCKERFILE)
    assert set(installed.split(",")) <= set(extras["optional-dependencies"])


def test_the_driver_is_run_with_options_that_the_command_has() -> None:
    name, *arguments = driver()["args"]

    command = typer.main.get_command(app).commands[name]  # type: ignore[attr-defined]
    parsed = command.make_context(name, arguments).params

    assert parsed["file"].startswith("/pipeline/")
    assert parsed["master"].startswith("k8s://")
    assert all(setting.startswith("spark.") for setting in parsed["settings"])


def test_executors_find_the_driver_by_its_service() -> None:
    settings = dict(
        argument.removeprefix("--set=").split("=", 1)
        for argument in driver()["args"]
        if argument.startswith("--set=")
    )
    service = PARTS["Service"]
    assert settings["spark.driver.host"] == f"{service['metadata']['name']}.default.svc"
    assert settings["spark.kubernetes.container.image"] == driver()["image"]
    ports = {str(port["port"]) for port in service["spec"]["ports"]}
    assert ports == {settings["spark.driver.port"], settings["spark.driver.blockManager.port"]}
    assert service["spec"]["selector"] == PARTS["Deployment"]["spec"]["selector"]["matchLabels"]


@pytest.fixture
def container(tmp_path: Path) -> dict[str, str]:
    """An environment in which commands only print what they are called with."""
    for name in ("java", "tidemark"):
        (tmp_path / name).write_text(f'#!/bin/sh\nprintf "%s\\n" {name} "$@"\n')
        (tmp_path / name).chmod(0o755)
    return {"PATH": f"{tmp_path}:{os.environ['PATH']}", "SPARK_HOME": "/opt/spark"}


def called(container: dict[str, str], *arguments: str) -> list[str]:
    done = subprocess.run(
        ["sh", ENTRYPOINT, *arguments], env=container, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def test_a_container_runs_the_command(container: dict[str, str]) -> None:
    assert called(container, "run", "a b.sql") == ["tidemark", "run", "a b.sql"]


def test_a_container_becomes_an_executor_when_spark_asks_for_one(
    container: dict[str, str],
) -> None:
    asked = {
        "SPARK_JAVA_OPT_0": "-Da=b c",
        "SPARK_JAVA_OPT_1": "-XX:+UseParallelGC",
        "SPARK_DRIVER_URL": "spark://driver",
        "SPARK_EXECUTOR_ID": "3",
        "SPARK_EXECUTOR_CORES": "2",
        "SPARK_EXECUTOR_MEMORY": "2g",
        "SPARK_APPLICATION_ID": "app",
        "SPARK_EXECUTOR_POD_IP": "host",
        "SPARK_RESOURCE_PROFILE_ID": "0",
        "SPARK_EXECUTOR_POD_NAME": "pod",
    }

    java, *options = called({**container, **asked}, "executor")

    assert java == "java"
    assert options[:4] == ["-Da=b c", "-XX:+UseParallelGC", "-Xms2g", "-Xmx2g"]
    assert options[4:6] == ["-cp", "/opt/spark/jars/*"]
    named = dict(zip(options[7::2], options[8::2], strict=True))
    assert named == {
        "--driver-url": "spark://driver",
        "--executor-id": "3",
        "--cores": "2",
        "--app-id": "app",
        "--hostname": "host",
        "--resourceProfileId": "0",
        "--podName": "pod",
    }
