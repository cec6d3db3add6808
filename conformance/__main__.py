"""The command line: record cases on real Flink, check any engine against them.

record    run cases on PyFlink and write the answers into their files
          (needs an interpreter with apache-flink and PyYAML, and a JDK on PATH)
check     run cases through an external command and compare
list      areas and counts
script    print the SQL script of one case, and write its data files
generate  write random cases into a folder
selftest  does the comparison accept the recorded results and reject damaged ones
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from conformance.case import COMPARE, Case
from conformance.case_file import load_cases
from conformance.check import judge, run_each, run_together
from conformance.compare import as_json
from conformance.script import write_script
from conformance.selftest import problems


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    result: int = options.run(options)
    return result


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m conformance",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    chosen = argparse.ArgumentParser(add_help=False)
    chosen.add_argument("cases", nargs="*", help="area/name, name or file; default all")
    chosen.add_argument("--area", action="append", default=[], help="may be given several times")

    add = commands.add_parser("record", parents=[chosen], help="ask Flink")
    add.add_argument("--missing", action="store_true", help="only cases not recorded yet")
    add.add_argument("--repeat", type=int, default=2, help="runs that must agree (default 2)")
    add.add_argument("--no-orders", action="store_true", help="no runs with forced orders")
    add.add_argument("--show", action="store_true", help="print the recorded rows")
    add.set_defaults(run=_record)

    add = commands.add_parser("check", parents=[chosen], help="run another engine and compare")
    way = add.add_mutually_exclusive_group(required=True)
    way.add_argument("--cmd", help="shell command per case; {script} and {case} are replaced")
    way.add_argument("--batch-cmd", help="one shell command for all; {manifest} is replaced")
    add.add_argument("--timeout", type=float, default=180, help="seconds a case (default 180)")
    add.add_argument("--keep", type=Path, help="folder to keep scripts and data in")
    add.add_argument("--sequenced", action="store_true", help="also the cases with `arrival`")
    add.add_argument("--max-diff", type=int, default=6, help="differences shown per case")
    add.set_defaults(run=_check)

    add = commands.add_parser("list", parents=[chosen], help="areas and counts")
    add.add_argument("--titles", action="store_true", help="the cases of each area too")
    add.set_defaults(run=_list)

    add = commands.add_parser("script", help="print the SQL script of one case")
    add.add_argument("case")
    add.add_argument("--out", type=Path, help="folder for the script and its data files")
    add.set_defaults(run=_script)

    add = commands.add_parser("generate", help="write random cases")
    add.add_argument("--seed", type=int, required=True, help="the same seed makes the same cases")
    add.add_argument("--count", type=int, default=100, help="how many (default 100)")
    add.add_argument("--folder", type=Path, required=True)
    add.set_defaults(run=_generate)

    add = commands.add_parser("selftest", parents=[chosen], help="test the comparison itself")
    add.set_defaults(run=_selftest)
    return parser


def _record(options: argparse.Namespace) -> int:
    from conformance import databases
    from conformance.flink import Flink

    cases = load_cases(options.cases, options.area)
    if options.missing:
        cases = [case for case in cases if case.flink is None]
    if not cases:
        print("no such case", file=sys.stderr)
        return 2
    if any(table.in_database for case in cases for table in case.tables):
        databases.make_reachable()
    flink = Flink()
    try:
        recorded = sum([_record_one(flink, case, options) for case in cases])
    finally:
        flink.close()
    print(f"{recorded} recorded, {len(cases) - recorded} failed")
    return int(recorded < len(cases))


def _record_one(flink: object, case: Case, options: argparse.Namespace) -> bool:
    from conformance.flink import Flink, error_essence
    from conformance.record import Refused, record

    assert isinstance(flink, Flink)
    started, recorded = time.monotonic(), False
    try:
        said = record(flink, case, options.repeat, not options.no_orders)
        recorded = True
    except Refused as refused:
        said = f"FAILED: {refused}"
    except Exception as error:
        said = f"FAILED: {error_essence(error)}"
    print(f"{case.name}: {said} ({time.monotonic() - started:.1f}s)", flush=True)
    if recorded and options.show:
        for row in case.expected or []:
            print(f"    {as_json(row)}")
    return recorded


def _check(options: argparse.Namespace) -> int:
    cases = [case for case in load_cases(options.cases, options.area) if case.flink]
    skipped = [case for case in cases if case.arrival and not options.sequenced]
    cases = [case for case in cases if case not in skipped]
    run, command = (run_each, options.cmd) if options.cmd else (run_together, options.batch_cmd)
    passed = 0
    with ExitStack() as cleanup:
        folder = options.keep or Path(cleanup.enter_context(tempfile.TemporaryDirectory()))
        for case, answer in run(cases, command, folder, options.timeout):
            found = judge(case, answer)
            passed += not found
            _report(case, found, options.max_diff)
    if skipped:
        print(f"SKIP {len(skipped)} cases with a fixed arrival order (--sequenced runs them)")
    print(f"{passed} passed, {len(cases) - passed} failed")
    return int(passed < len(cases))


def _report(case: Case, found: list[str], most: int) -> None:
    print(f"FAIL {case.name}: {case.title}" if found else f"PASS {case.name}", flush=True)
    for line in found[:most]:
        print(f"     {line}")
    if len(found) > most:
        print(f"     ... {len(found) - most} more")


def _list(options: argparse.Namespace) -> int:
    cases = load_cases(options.cases, options.area)
    for area in dict.fromkeys(case.area for case in cases):
        members = [case for case in cases if case.area == area]
        modes = Counter(case.compare for case in members)
        counts = ", ".join(f"{mode} {modes[mode]}" for mode in COMPARE if modes[mode])
        print(f"{area:<22} {len(members):>4}   {counts}")
        if options.titles:
            for case in members:
                print(f"    {case.path.stem:<44} {case.title}")
    print(f"{'total':<22} {len(cases):>4}")
    return 0


def _script(options: argparse.Namespace) -> int:
    cases = load_cases([options.case])
    if len(cases) != 1:
        print(f"{len(cases)} cases match", file=sys.stderr)
        return 2
    folder = options.out or Path(tempfile.mkdtemp(prefix="conformance-"))
    print(write_script(cases[0], folder).read_text(encoding="utf-8"))
    return 0


def _generate(options: argparse.Namespace) -> int:
    from conformance.generate.scripts import generate

    print(f"{len(generate(options.seed, options.count, options.folder))} cases written")
    return 0


def _selftest(options: argparse.Namespace) -> int:
    cases = load_cases(options.cases, options.area)
    cases = [case for case in cases if case.flink and case.compare != "error"]
    unsound = 0
    for case in cases:
        found = list(problems(case))
        unsound += bool(found)
        for problem in found:
            print(f"{case.name}: {problem}")
    print(f"{len(cases) - unsound} sound, {unsound} not")
    return int(unsound > 0)


if __name__ == "__main__":
    sys.exit(main())
