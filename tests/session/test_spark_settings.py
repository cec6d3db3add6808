"""What a Spark is given that Tidemark starts by itself."""

from __future__ import annotations

import pytest

from tidemark.spark.settings import own_settings


@pytest.mark.parametrize("master", ["local", "local[2]", "local-cluster[2,1,1024]"])
def test_a_local_driver_needs_no_name_that_can_be_looked_up(master):
    assert own_settings(master)["spark.driver.host"] == "localhost"


@pytest.mark.parametrize("master", ["spark://host:7077", "yarn", "k8s://https://host", "sc://host"])
def test_executors_elsewhere_are_not_told_that_the_driver_is_on_their_own_machine(master):
    assert not {"spark.driver.host", "spark.driver.bindAddress"} & own_settings(master).keys()


@pytest.mark.parametrize(("machine", "driver"), [(2, "1024m"), (8, "2048m"), (256, "4096m")])
def test_a_local_driver_gets_a_quarter_of_the_memory_within_limits(monkeypatch, machine, driver):
    monkeypatch.setattr("tidemark.spark.machine.memory", lambda: machine << 30)
    assert own_settings("local")["spark.driver.memory"] == driver


def test_drivers_of_clusters_have_the_memory_that_spark_gives_them():
    assert "spark.driver.memory" not in own_settings("spark://host:7077")
