"""Every engine gets the same files and the same SQL, and what they report is judged as it should."""

import argparse
import io
import itertools
import time
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

import tidemark
from bench.contest import ROOT
from bench.engine import Outcome, Run
from bench.real_bytes import command, measuring, polars_engine
from bench.real_bytes.command import add_arguments, cases
from bench.real_bytes.files import accounts, digest, events_of, orders_of, rates_of, written
from bench.real_bytes.measuring import contestants
from bench.real_bytes.playing import play, play_all
from bench.real_bytes.queries import QUERIES
from bench.real_bytes.report import FLINKS, LOCAL, POLARS, TIDEMARK, Measured, said, steps, times
from bench.real_bytes.steps import (
    FOLDER,
    LOAD,
    REST,
    STEPS,
    Laps,
    collected,
    owner_of,
    worker_main,
)
from bench.real_bytes.workload import (
    FORMATS,
    MODES,
    SPAN_S,
    Case,
    Job,
    Target,
    parsed,
    runs,
    targets,
)

ORDERS = 3_000


def options(*line):
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(line)


def case(query="scan", files=1, mode="batch", format_="json"):
    return Case(query, format_, files, mode)


def test_a_job_reaches_the_process_of_an_engine():
    jars = (Path("/a.jar"), Path("/b.jar"))
    job = Job(case("copy", files=16), Path("/data"), Path("/results"), True, jars)

    way, found, started = parsed(["spark", *job.arguments()])

    assert (way, found) == ("spark", [job])
    assert started <= time.time()


def test_several_jobs_have_results_of_their_own():
    jobs = [
        Job(case(query), Path("/data"), Path("/results"), checked)
        for query, checked in (("scan", True), ("copy", False))
    ]

    _, found, _ = parsed(["spark", *jobs[0].arguments_of_all(jobs[1:])])

    assert found == [replace(job, results=Path("/results") / job.case.query) for job in jobs]


def test_of_several_jobs_the_others_run_when_one_fails(capsys):
    def one(job, start):
        play(["cold", "warm"], start, lambda target: 1 // job)

    play_all([0, 1], time.time(), one)

    failed, ran = capsys.readouterr().out.splitlines()
    assert "ZeroDivisionError" in failed
    assert len(Outcome.read(ran).runs) == 2


def test_options_select_cases():
    chosen = options("--queries", "scan", "copy", "--files", "1", "4", "--modes", *MODES)

    found = [*cases(chosen)]
    assert len(found) == 4 * len(MODES)
    assert case("copy", files=4) in found
    assert [*cases(options())] == [case(query) for query in QUERIES]
    with pytest.raises(SystemExit):
        options("--queries", "nothing")


def test_flink_runs_as_a_stream_what_it_does_not_have_in_batch_mode():
    assert contestants(case("tumbling"), ["flink", "polars"]) == [FLINKS["batch"], POLARS]
    assert contestants(case("temporal-join"), ["local", "flink"]) == [LOCAL, FLINKS["stream"]]


def test_what_keeps_no_checkpoint_does_not_stream():
    assert contestants(case(mode="stream"), ["flink", "local"]) == [FLINKS["stream"]]


def test_events_report_what_a_rate_was_before():
    events = events_of(ORDERS)
    account = events.filter(pl.col("after").struct.field("account") == 7)

    assert account["op"].to_list() == ["c", *["u"] * (account.height - 1)]
    assert account["before"].to_list() == [None, *account["after"].to_list()[:-1]]
    assert account.height > 2


def test_orders_are_within_the_span_and_hardly_out_of_order():
    orders = orders_of(ORDERS)

    ms = orders["ts"].dt.epoch("ms")
    assert ms.max() - ms.min() < (SPAN_S + 1) * 1000
    assert (ms.cum_max() - ms).max() <= 1000
    assert orders["account"].n_unique() == accounts(ORDERS)


def test_no_account_has_two_rates_at_a_time():
    rates = rates_of(200_000)

    assert rates.select("account", "ts").is_unique().all()
    assert rates["account"].n_unique() == accounts(200_000)


def test_files_are_written_once_and_hold_all_rows_in_order(tmp_path):
    asked = case("interval-join", files=3)
    folder = written(tmp_path, ORDERS, asked)
    names = sorted((folder / "orders-json-3").iterdir())
    stamps = [name.stat().st_mtime_ns for name in names]

    ids = [id_ for name in names for id_ in pl.read_ndjson(name)["id"]]
    assert ids == [*range(ORDERS)]
    assert written(tmp_path, ORDERS, asked) == folder
    assert [name.stat().st_mtime_ns for name in names] == stamps
    assert sorted(path.name for path in folder.iterdir()) == ["orders-json-3", "rates-json-3"]


def test_a_digest_knows_lines_and_not_their_order(tmp_path):
    def of(name, **files):
        (tmp_path / name).mkdir()
        for file, text in files.items():
            (tmp_path / name / file).write_text(text)
        return digest(tmp_path / name)

    once = of("once", a='{"x":"1, 2"}\n{"y":2}\n', _SUCCESS="", empty="")
    assert once == of("twice", b='{"y":2}\n', a='{"x":"1, 2"}\n')
    assert once[0] == 2
    assert once != of("other", a='{"x":"1, 2"}\n{"y":3}\n')


EACH = [*cases(options("--files", "2", "--formats", *FORMATS))]


@pytest.mark.parametrize("asked", EACH, ids=str)
def test_polars_and_tidemark_find_the_same_rows(tmp_path, asked):
    query = asked.query

    def job(name):
        return Job(asked, written(tmp_path, ORDERS, asked), tmp_path / name, checked=True)

    by_polars, by_tidemark = job("polars"), job("tidemark")
    *_, target = targets(by_polars)
    rows = polars_engine.QUERIES[query](lambda name: polars_engine.read(by_polars, name))
    polars_engine.write(rows, target)
    with tidemark.connect(options={"execution.runtime-mode": "batch"}, engine="local") as session:
        *_, other = targets(by_tidemark)
        for statement in (*by_tidemark.tables(), other.sink):
            session.sql(statement)
        session.sql(f"INSERT INTO {other.name} {QUERIES[query].text}").job.wait()

    found = digest(target.folder)
    assert found[0] > 0
    assert found == digest(other.folder)


def test_a_cold_run_counts_from_the_start_of_the_process(tmp_path, capsys):
    ran = []
    job = Job(case(), tmp_path, tmp_path / "results", checked=True)

    play(runs(job), time.time() - 100, ran.append)

    outcome = Outcome.read(capsys.readouterr().out)
    assert outcome.cold.seconds >= 100
    assert outcome.warm.seconds < 100
    assert [target.name for target in ran] == ["cold", "warm", "compared"]
    assert [target.folder for target in ran] == [None, None, tmp_path / "results/compared"]


def test_what_a_copy_writes_when_warm_is_compared(tmp_path, capsys):
    ran = []
    job = Job(case("copy"), tmp_path, tmp_path / "results", checked=True)

    play(runs(job), time.time(), ran.append)

    assert [target.name for target in ran] == ["cold", "warm"]
    assert targets(job)[-1] == ran[-1]
    assert ran[-1] == Target("warm", QUERIES["copy"], tmp_path / "results/warm", "json")


def outcome(cold=1.0, warm=1.0, rows=10, checksum=7):
    return Outcome((Run(cold, {"JVM": 2.0}), Run(warm, {"JVM": 1.0})), rows, checksum)


def measured(tidemark=None, flink=None, query="scan", **more):
    outcomes = {FLINKS["batch"]: flink or outcome(cold=4.0, warm=3.0)}
    return Measured(case(query), outcomes | {TIDEMARK: tidemark or outcome()}, **more)


def test_tidemark_is_judged_by_the_limits_of_its_query():
    quick, slow = outcome(cold=2.0, warm=1.0), outcome(cold=2.0, warm=2.0)

    assert measured(quick).good
    assert not measured(quick, query="tumbling").good
    assert not measured(slow).good
    assert said([measured(slow)]) == [
        "scan, json, 1 file, batch: 1.50 times Flink's rate warm (wanted: 2) "
        "and 2.00 times cold (wanted: 1)."
    ]


def test_other_rows_and_failures_are_not_good():
    other = measured(outcome(checksum=8))
    broken = measured(failures={POLARS: "out of memory"})

    assert not other.good
    assert "do NOT agree" in said([other])[0]
    assert not broken.good
    assert said([broken]) == ["scan, json, 1 file, batch: Polars alone failed. out of memory"]


def test_the_table_has_each_engine_beside_flink():
    console = Console(file=io.StringIO(), width=200)
    console.print(times([measured(outcome(cold=2.0, warm=1.5))]))

    lines = [line for line in console.file.getvalue().splitlines() if line.startswith("│")]
    assert [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines] == [
        ["scan, json, 1 file, batch", "", "", ">= 1", "", "", ">= 2", ""],
        ["Flink, batch", "4.00", "2.0", "1.00", "3.00", "1.0", "1.00", "10"],
        ["Tidemark", "2.00", "2.0", "2.00", "1.50", "1.0", "2.00", "10"],
    ]


def test_an_engine_that_fails_does_not_end_the_measurement(tmp_path, monkeypatch):
    turns = []

    def turn(contestant, job):
        turns.append((contestant, job.checked))
        if contestant == TIDEMARK:
            raise SystemExit("a long story\nout of memory")
        *_, target = targets(job)
        target.folder.mkdir(parents=True)
        (target.folder / "rows").write_text("{}\n")
        return Outcome((Run(1.0), Run(0.5)), 0)

    kept = {}
    monkeypatch.setattr(measuring, "measured", turn)
    monkeypatch.setattr(command, "keep", lambda _, content: kept.update(content))
    monkeypatch.setattr(command, "picture", lambda *_: None)
    asked = ["--queries=scan", "--files=1", "--modes=batch", "--formats=json", "--rounds=2"]
    sizes = ["--orders=100", f"--cache={tmp_path}"]
    line = [*asked, *sizes, "--engines", "tidemark", "polars"]
    assert command.run(options(*line), Console(file=io.StringIO())) == 1

    assert turns == [(TIDEMARK, True), (POLARS, True), (POLARS, False)]
    [only] = kept["measured"]
    assert only["failures"] == {"Tidemark": "a long story\nout of memory"}
    assert only["engines"][0]["rows"] == 1
    assert only["engines"][0]["checksum"] is not None


def test_files_are_kept_where_git_ignores_them():
    assert options().cache.is_relative_to(ROOT / ".cache")


def ticking():
    """A clock that advances by a second whenever it is read."""
    seconds = itertools.count()
    return lambda: float(next(seconds))


def test_a_step_counts_without_those_inside_it():
    laps = Laps(clock=ticking())

    def numbers():
        yield 1
        yield inner()

    inner = laps.wrapped("inner", lambda: 2)
    assert [*laps.wrapped("outer", numbers)()] == [1, 2]
    # The clock is read when a step begins or ends: a second for each item, and one for the end;
    # the second item's step is interrupted by the one inside, which makes it two.
    assert laps.spent == {"outer": 4.0, "inner": 1.0}


def test_what_a_killed_worker_did_is_not_lost():
    saved = []
    laps = Laps(clock=ticking())
    laps.save = lambda: saved.append(dict(laps.spent))

    with laps.of("worker"), laps.of("decode"), laps.of("read"):
        pass

    assert saved[0] == {"worker": 1.0, "decode": 2.0, "read": 1.0}
    assert len(saved) == 2


def test_there_is_a_function_for_each_step():
    for _, module, path in STEPS:
        owner, name = owner_of(module, path)
        assert callable(getattr(owner, name)), path


def test_the_steps_of_all_tasks_are_added_up_once(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER, str(tmp_path))
    monkeypatch.setattr(Laps, "install", lambda self: None)
    task = worker_main(lambda incoming, outgoing: None)

    task(None, None)
    task(None, None)

    assert len([*tmp_path.iterdir()]) == 2
    (tmp_path / "being-written.new").touch()
    assert collected(tmp_path).keys() == {LOAD, REST}
    assert collected(tmp_path) == {}


def test_the_costly_steps_of_workers_are_shown_first():
    console = Console(file=io.StringIO(), width=200)
    console.print(steps([measured(steps={"pack": 0.5, "decode": 2.25, "sink": 0.0})]))

    assert "decode 2.25, pack 0.50 " in console.file.getvalue()
