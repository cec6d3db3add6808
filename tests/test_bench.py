"""The measurements measure what they say: their scripts are scripts, their verdicts are right."""

import argparse
import io
import json
import subprocess
import sys
from xml.etree import ElementTree

import polars as pl
import pyarrow as pa
import pytest
from rich.console import Console

import tidemark
from bench import __main__ as bench_main
from bench import (
    backfill_growth_tidemark,
    batch_steps,
    interval_join_workload,
    latency_engines,
    processes,
    temporal_join,
    windows,
    windows_growth,
    windows_workload,
)
from bench.__main__ import BENCHES, Bench
from bench.backfill_growth import Grown as Batches
from bench.backfill_growth_tidemark import Growing
from bench.chart import chart
from bench.contest import Contestant, Ratio, agree, bars, contest_table, lines, typical
from bench.engine import Outcome, Run, agreed
from bench.parquet_batches import Grown
from bench.progress import by_part, by_work, seconds
from bench.startup import long_script
from bench.state_growth import slowdown
from bench.temporal_join_workload import Workload, parsed
from bench.windows_growth_tidemark import Growth, load_times
from bench.windows_spark import end_ms, sums, watermark_ms
from tests.waiting import wait_until
from tidemark.runtime.batch import Batch, Tally


def test_long_script_is_long_and_right():
    text = long_script(lines=200)
    assert text.count("\n") >= 200
    assert any(planned.plan for planned in tidemark.Workspace().plan_script(text))


def test_workload_reaches_the_process_of_an_engine():
    workload = Workload(left=70, versions=7, keys=3)
    assert parsed(["stream", *workload.arguments()]) == ("stream", workload)


def test_rows_of_the_interval_join_are_as_dense_as_requested():
    workload = interval_join_workload.Workload(rows=200_000, keys=1_000, matches=10)

    assert interval_join_workload.parsed(["native", *workload.arguments()]) == ("native", workload)
    per_key_and_bound = 200_000 / 1_000 * 20_000 / workload.span_ms
    assert per_key_and_bound == 10


def outcome(cold=1.0, warm=1.0, rows=10, checksum=None):
    return Outcome((Run(cold), Run(warm)), rows, checksum)


def test_medians_of_rounds_count():
    rounds = [outcome(3.0, 1.5), outcome(9.0, 1.0), outcome(4.0, 8.0)]

    assert typical(rounds) == outcome(4.0, 1.5)
    assert typical(rounds[:2]) == outcome(3.0, 1.0)
    assert typical(rounds[:1]) == rounds[0]
    with pytest.raises(SystemExit, match="do not agree"):
        typical([outcome(rows=1), outcome(rows=2)])


def test_engines_agree_where_rows_and_known_sums_are_equal():
    summed, counted = outcome(checksum=55), outcome()
    assert agree([summed, counted, summed])
    assert not agree([summed, outcome(rows=9)])
    assert not agree([summed, outcome(checksum=54)])


def test_runs_of_one_engine_must_agree():
    assert agreed([(10, 55), (10, 55)]) == (10, 55)
    with pytest.raises(SystemExit, match="do not agree"):
        agreed([10, 11])


def test_ratio_is_how_many_times_the_rate_of_the_other():
    assert Ratio.of(outcome(cold=4.0, warm=1.0), outcome(cold=2.0, warm=3.0)) == Ratio(0.5, 3.0)


def test_contest_shows_each_engine_beside_its_rival():
    flink, mine = Contestant("Flink", "bench.flink.x", ""), Contestant("Tidemark", "bench.x", "")
    outcomes = {flink: outcome(cold=4.0, warm=2.0), mine: outcome(cold=8.0, warm=0.5)}

    shown = drawn(contest_table("A join", outcomes, flink, records=1000))
    assert rows_of(shown) == [
        ["Flink", "cold", "4.00", "250", "1.00", "", "10"],
        ["", "warm", "2.00", "500", "1.00", "", ""],
        ["Tidemark", "cold", "8.00", "125", "0.50", "", "10"],
        ["", "warm", "0.50", "2,000", "4.00", "", ""],
    ]
    assert bars(outcomes, flink)["Tidemark, warm"] == 4.0
    [_, kept] = lines(outcomes, flink, records=1000)
    assert kept["ratio"] == {"cold": 0.5, "warm": 4.0}


def test_disagreeing_engines_and_a_missed_limit_fail_the_contest(monkeypatch):
    def verdict(**flink):
        outcomes = {one: stream(seconds=1.0) for one in temporal_join.CONTESTANTS}
        outcomes[temporal_join.FLINK] = stream(**flink)
        monkeypatch.setattr(temporal_join, "contest", lambda *_: outcomes)
        return temporal_join.run(argparse.Namespace(left=10, versions=5, keys=2), quiet())

    monkeypatch.setattr(temporal_join, "keep", lambda *_: None)
    monkeypatch.setattr(temporal_join, "picture", lambda *_: None)
    assert verdict(seconds=3.5) == 0
    assert verdict(seconds=2.5) == 1
    assert verdict(seconds=3.5, rows=11) == 1


def test_time_of_a_stream_is_reported_by_part_and_by_work():
    progress = [micro_batch("00:00:01.000", 900, 300), micro_batch("00:00:02.000", 500, 200)]

    assert seconds(progress) == 1.5
    parts = by_part(progress)
    assert (parts["addBatch"], parts["planning"], parts["the rest"]) == (0.5, 0.2, 0.7)
    assert by_work(progress, "join-1") == {"kernel": 0.02, "state": 0.01}


def test_slowdown_compares_medians_of_the_last_micro_batches():
    def grown(*batch_ms):
        return Grown(1, list(batch_ms), 0, 0.0, {})

    small, large = grown(900, *[10] * 15), grown(900, *[10] * 7, *[30] * 8)
    assert slowdown(small, large) == 3.0


def test_accounts_take_turns_so_that_sessions_end():
    workload = windows_workload.Workload(rows=30_000, keys=300, windows="session")

    assert windows_workload.parsed(["table", *workload.arguments()]) == ("table", workload)
    rows = pl.DataFrame({"n": pl.int_range(workload.rows, dtype=pl.Int64, eager=True)}).sql(
        f"SELECT {workload.account('n')} AS account, {workload.milliseconds('n')} AS ms FROM self"
    )
    assert rows["ms"].is_sorted()
    assert rows["ms"][-1] == workload.last_ms
    gaps = rows.select(pl.col("ms").diff().over("account"))["ms"].drop_nulls()
    longer = gaps.filter(gaps > 10_000)
    # In a hundred seconds there are 20 turns, of a hundred accounts each.
    assert longer.len() == 20 * 100 - 300
    assert gaps.filter(gaps <= 10_000).max() < windows_workload.TURN_MS


def test_windows_are_compared_with_the_better_of_each_rival():
    outcomes = dict.fromkeys((*windows.FLINKS, *windows.SPARKS), outcome(warm=9.0))
    outcomes |= {windows.FLINKS[2]: outcome(warm=6.0), windows.SPARKS[1]: outcome(warm=1.0)}
    flink, spark = windows.against_the_better({**outcomes, windows.TIDEMARK: outcome(warm=2.0)})

    assert (flink.rival, flink.ratio.warm, flink.good) == (windows.FLINKS[2], 3.0, True)
    assert (spark.rival, spark.ratio.warm, spark.good) == (windows.SPARKS[1], 0.5, False)


def test_windows_fail_where_engines_disagree_or_micro_batches_grow(monkeypatch):
    def verdict(rows=10, many_ms=15):
        engines = (*windows.FLINKS, *windows.SPARKS)
        outcomes = dict.fromkeys(engines, outcome(cold=3.0, warm=3.0))
        outcomes[windows.TIDEMARK] = stream(seconds=1.0, rows=rows)
        monkeypatch.setattr(windows, "contest", lambda *_: outcomes)
        taken = iter([10, many_ms])
        monkeypatch.setattr(
            windows_growth, "measured", lambda _: Grown(1, [next(taken)] * 15, 0, 0.0, {})
        )
        asked = argparse.Namespace(rows=10, keys=3, windows=["session"], open=[100, 1000])
        return windows.run(asked, quiet())

    kept = {}
    monkeypatch.setattr(windows, "keep", lambda _, content: kept.update(content))
    monkeypatch.setattr(windows, "picture", lambda *_: None)
    assert verdict() == 0
    assert kept["sessions"]["ratio"] == 1.5
    assert verdict(rows=11) == 1
    assert verdict(many_ms=25) == 1


def test_windows_of_a_stream_are_added_up_to_the_last_watermark():
    def batch(watermark, rows, counted):
        observed = {"windows": {"rows": rows, "counted": counted}}
        return {"eventTime": {"watermark": watermark}, "observedMetrics": observed}

    first, last = batch("1970-01-01T00:00:00.000Z", 0, None), batch("2023-11-15T22:13:20Z", 3, 7)
    assert sums([first, last, {"observedMetrics": {}}]) == (3, 7)
    assert watermark_ms(first) == watermark_ms({}) == 0
    assert watermark_ms(last) > end_ms(windows_workload.Workload(rows=100, keys=10))


def test_each_small_batch_finds_as_many_sessions_to_close():
    growth = Growth(open=1000, batches=4, closing=30)

    opened = pl.Series(load_times(growth)).value_counts(name="sessions").sort("")
    assert opened["sessions"].to_list() == [30, 30, 30, 30, 880]


def test_latency_counts_rows_after_the_warm_up(monkeypatch):
    clock = iter([100.0, 102.0, 103.0])
    monkeypatch.setattr(latency_engines.time, "time", lambda: next(clock))
    arrivals = latency_engines.Arrivals(latency_engines.Rate(seconds=2, warmup=1))

    def at(*event_seconds):
        microseconds = [int(second * 1e6) for second in event_seconds]
        return pa.chunked_array([pa.array(microseconds, pa.timestamp("us", "UTC"))])

    assert arrivals.take(at(90))
    assert arrivals.take(at(101.9, 101.5))
    assert not arrivals.take(at(102.7))
    seen = arrivals.read()
    assert (seen.median_ms, seen.largest_ms, seen.rows) == (300, 500, 3)


def test_chart_draws_bars_to_scale_and_the_limit():
    picture = ElementTree.fromstring(chart("Times <Flink's>", {"a": 4.0, "b": 1.0}, limit=2.0))

    space = "{http://www.w3.org/2000/svg}"
    _, a, b = picture.findall(f"{space}rect")
    assert float(a.get("width")) == 4 * float(b.get("width"))
    line = picture.find(f"{space}line")
    assert float(line.get("x1")) - float(a.get("x")) == float(a.get("width")) / 2
    assert "Times <Flink's>" in [text.text for text in picture.findall(f"{space}text")]


@pytest.mark.skipif(not processes.PROC.is_dir(), reason="there is no /proc here")
def test_cpu_and_memory_of_children_are_seen():
    before = processes.cpu_seconds()
    child = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        wait_until(lambda: processes.whole(processes.used_since(before)) >= 0.3)
    finally:
        child.kill()
        child.wait()
    assert processes.resident_mb()[processes.DRIVER] > 1


def test_help_has_a_line_for_every_measurement(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "argv", ["bench", "--help"])
    with pytest.raises(SystemExit):
        bench_main.main()

    told = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    assert all([bench.name, bench.summary] in told for bench in BENCHES)


def test_all_goes_on_after_a_missed_limit(monkeypatch):
    ran = []

    def bench(name, verdict):
        return Bench(name, name, lambda _: None, lambda *_: ran.append(name) or verdict)

    monkeypatch.setattr(bench_main, "BENCHES", (bench("a", 1), bench("b", 0)))
    monkeypatch.setattr(sys, "argv", ["bench", "all"])
    assert bench_main.main() == 1
    assert ran == ["a", "b"]


def stream(seconds, rows=10):
    details = {"micro_batches_s": {"addBatch": 0.5}, "operator_s": {"kernel": 0.2}}
    return Outcome((Run(seconds, {"JVM": 1.0}, details),) * 2, rows)


def micro_batch(clock, trigger_ms, add_ms):
    report = {"spent_ms": {"kernel": 10.0, "state": 5.0}}
    return {
        "timestamp": f"2024-01-01T{clock}Z",
        "durationMs": {"triggerExecution": trigger_ms, "addBatch": add_ms, "queryPlanning": 100},
        "observedMetrics": {"tidemark:join-1": {"reports": [json.dumps(report)]}},
    }


def drawn(table):
    console = Console(file=io.StringIO(), width=200)
    console.print(table)
    return console.file.getvalue()


def rows_of(shown):
    lines = [line for line in shown.splitlines() if line.startswith("│")]
    return [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines]


def quiet():
    return Console(file=io.StringIO())


def test_memory_that_processes_share_is_counted_once():
    alone, together = processes.resident_mb(), processes.together_mb()

    assert alone.keys() == together.keys()
    assert all(0 <= together[part] <= alone[part] * 1.2 for part in together)


def batches(large=3.0, skewed=2.0, peak_mb=900.0):
    def ran(seconds, megabytes=100.0):
        return Outcome((Run(seconds, details={"peak_mb": megabytes}),), 10)

    return Batches(
        "windows",
        rows=1_000,
        more=3_000,
        usual=ran(1.0),
        large=ran(large, peak_mb),
        skewed=ran(skewed),
    )


def test_a_batch_is_as_wanted_if_time_grows_as_rows_do_and_memory_does_not():
    assert batches().growth == pytest.approx(1.0)
    assert batches().peak_mb == 900.0
    assert batches().is_as_wanted
    assert not batches(large=4.0).is_as_wanted
    assert not batches(skewed=3.1).is_as_wanted
    assert not batches(peak_mb=3_100.0).is_as_wanted


def test_rows_of_a_growing_batch_reach_its_process():
    growing = Growing(70, skewed=True)

    assert backfill_growth_tidemark.parsed(["windows", *growing.arguments()]) == (
        "windows",
        growing,
    )


@pytest.mark.parametrize("skewed", [False, True])
@pytest.mark.parametrize("operator", batch_steps.OPERATORS.values(), ids=batch_steps.OPERATORS)
def test_the_rows_of_a_key_group_go_through_its_operator(operator, skewed):
    tally = Tally()

    rows = batch_steps.packed(operator, 5_000, skewed)
    steps = [*Batch(batch_steps.bucket_of(operator), 0).steps(rows, tally)]

    assert tally.read().rows_in[0] == 5_000
    assert sum(step.output.height for step in steps) > 0
