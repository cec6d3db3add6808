"""The queries of Nexmark and of operators, as they are measured beside Flink."""

import io

import polars as pl
import pytest
from rich.console import Console

import tidemark
from bench.engine import Outcome, Run
from bench.real_bytes.files import digest, written
from bench.real_bytes.measuring import contestants
from bench.real_bytes.nexmark_queries import EXAMPLES
from bench.real_bytes.nexmark_queries import QUERIES as NEXMARK
from bench.real_bytes.operator_files import payments_of
from bench.real_bytes.operator_queries import QUERIES as OPERATORS
from bench.real_bytes.report import FLINKS, LOCAL, TIDEMARK, Measured
from bench.real_bytes.suite import mean_ratio, table
from bench.real_bytes.workload import Case, Job, targets

RECORDS = 1_000


def ran(case, cache, folder):
    """The digest of what Tidemark writes."""
    job = Job(case, written(cache, RECORDS, case), folder, checked=True)
    *_, target = targets(job)
    with tidemark.connect(options={"execution.runtime-mode": "batch"}, engine="local") as session:
        for statement in (*job.tables(), target.sink):
            session.sql(statement)
        session.sql(f"INSERT INTO {target.name} {case.asked.text}").job.wait()
    return digest(target.folder, case.asked.certain)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize("query", [q for q in NEXMARK if NEXMARK[q].local])
def test_events_in_one_table_and_rows_in_three_are_the_same(query, cache, tmp_path):
    nested, flat = (
        ran(Case(query, format_, 1, "batch"), cache, tmp_path / format_)
        for format_ in ("json", "parquet")
    )
    assert nested == flat


@pytest.mark.parametrize("query", OPERATORS)
def test_each_operator_finds_rows(query, cache, tmp_path):
    assert ran(Case(query, "parquet", 1, "batch"), cache, tmp_path)[0] > 0


def test_the_queries_are_those_of_the_examples():
    for name, query in NEXMARK.items():
        text = (EXAMPLES / f"{name}.sql").read_text()
        assert f"INSERT INTO sink {query.text};" in text
        assert query.columns in text


def test_payments_of_an_account_are_at_different_times_and_in_order():
    times = payments_of(10_000).group_by("account", maintain_order=True).agg("ts")["ts"]

    assert times.list.len().unique().to_list() == [100]
    assert times.list.eval(pl.element().diff().drop_nulls() > pl.duration()).list.all().all()


def test_an_engine_is_not_asked_what_it_does_not_run():
    engines = ["flink", "tidemark", "local"]

    assert contestants(Case("q6", "json", 1, "batch"), engines) == [TIDEMARK, LOCAL]
    assert contestants(Case("q11", "json", 1, "batch"), ["flink"]) == [FLINKS["stream"]]


def test_only_rows_that_are_the_same_in_both_are_compared():
    assert Case("q4", "json", 1, "batch").comparable
    assert not Case("q4", "json", 1, "stream").comparable
    assert not Case("q12", "json", 1, "batch").comparable


def test_a_digest_may_be_of_some_fields(tmp_path):
    for name, other in (("one", 3), ("two", 4)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rows").write_text(f'{{"id":1,"other":{other}}}\n')
    one, two = tmp_path / "one", tmp_path / "two"

    assert digest(one, ("id",)) == digest(two, ("id",)) != digest(one, ("other",))
    assert digest(one, ()) == (0, 0)


def test_a_line_has_both_rates_and_the_mean_is_geometric():
    def measured(query, warm):
        flink = Outcome((Run(8.0), Run(4.0, {"JVM": 6.0})), 10, 7)
        mine = Outcome((Run(4.0), Run(warm, {"JVM": 2.0})), 10, 7)
        case = Case(query, "json", 1, "batch")
        return Measured(case, {FLINKS["batch"]: flink, TIDEMARK: mine})

    found = [measured("q0", 1.0), measured("q1", 4.0)]
    console = Console(file=io.StringIO(), width=200)
    console.print(table("Nexmark", found, 1000))

    assert mean_ratio(found) == pytest.approx(2.0)
    [line] = [line for line in console.file.getvalue().splitlines() if "q0" in line]
    cells = [cell.strip() for cell in line.split("│")[1:-1]]
    assert cells == ["q0, json, 1 file, batch", "250", "1,000", "4.00", "2.00", "6.0", "2.0",
                     "3.00", "10"]  # fmt: skip
