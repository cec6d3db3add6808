"""What a Spark is given that Tidemark starts by itself."""

from __future__ import annotations

import pytest

from tidemark.spark.defaults import spark_defaults
from tidemark.spark.settings import own_settings, started_with


@pytest.mark.parametrize("master", ["local", "local[2]", "local-cluster[2,1,1024]"])
def test_a_local_driver_needs_no_resolvable_host_name(master):
    assert own_settings(master)["spark.driver.host"] == "localhost"


@pytest.mark.parametrize("master", ["spark://host:7077", "yarn", "k8s://https://host", "sc://host"])
def test_remote_executors_do_not_look_for_the_driver_on_their_own_machine(master):
    assert not {"spark.driver.host", "spark.driver.bindAddress"} & own_settings(master).keys()


@pytest.mark.parametrize(("machine", "driver"), [(2, "1024m"), (8, "2048m"), (256, "4096m")])
def test_a_local_driver_gets_a_quarter_of_the_memory_within_limits(monkeypatch, machine, driver):
    monkeypatch.setattr("tidemark.spark.machine.memory", lambda: machine << 30)
    assert own_settings("local")["spark.driver.memory"] == driver


def test_drivers_of_clusters_have_the_memory_that_spark_gives_them():
    assert "spark.driver.memory" not in own_settings("spark://host:7077")


DEFAULTS = """\
# spark.master  local[9]

spark.master                 spark://host:7077
spark.executor.extraJavaOptions  -Dkey=value -Dnumbers="one two"
spark.sql.shuffle.partitions=64
"""


def test_spark_defaults_are_read_where_spark_reads_them(tmp_path):
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text(DEFAULTS)
    expected = {
        "spark.master": "spark://host:7077",
        "spark.executor.extraJavaOptions": '-Dkey=value -Dnumbers="one two"',
        "spark.sql.shuffle.partitions": "64",
    }

    assert spark_defaults({"SPARK_HOME": str(tmp_path)}) == expected
    assert spark_defaults({"SPARK_CONF_DIR": str(tmp_path / "conf")}) == expected
    assert spark_defaults({"SPARK_CONF_DIR": str(tmp_path / "nowhere")}) == {}


def test_a_master_and_settings_of_spark_defaults_are_kept(monkeypatch):
    monkeypatch.delenv("MASTER", raising=False)
    defaults = {"spark.master": "spark://host:7077", "spark.sql.shuffle.partitions": "64"}

    wanted = started_with({}, defaults)

    assert wanted["spark.master"] == "spark://host:7077"
    assert wanted["spark.sql.shuffle.partitions"] == "64"
    assert "spark.driver.host" not in wanted  # it is not on this machine


def test_the_nearer_word_on_the_master_counts(monkeypatch):
    monkeypatch.setenv("MASTER", "local[3]")

    assert started_with({}, {"spark.master": "yarn"})["spark.master"] == "local[3]"
    assert started_with({"spark.master": "local[4]"}, {})["spark.master"] == "local[4]"
    monkeypatch.delenv("MASTER")
    assert started_with({}, {})["spark.master"] == "local[*]"
