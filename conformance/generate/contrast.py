"""Where two engines' answers to generated cases differ.

python -m conformance.generate.contrast --folder F            # Flink and Tidemark
python -m conformance.generate.contrast --folder F --show rows
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

from conformance.case import Case
from conformance.case_file import load_cases
from conformance.compare import differences, materialize
from conformance.generate.engines import Answer, answers


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--engines", nargs=2, default=["flink", "tidemark"])
    parser.add_argument("--show", default="", help="print the cases of this kind")
    parser.add_argument("--most", type=int, default=6, help="differences shown per case")
    options = parser.parse_args(arguments)
    found = contrasts(options.folder, *options.engines)
    for kind, members in sorted(found.items()):
        print(f"{kind:<16} {len(members)}")
        if kind == options.show:
            for case, words in members:
                _print(case, words[: options.most])
    return 0


def contrasts(folder: Path, first: str, second: str) -> dict[str, list[tuple[Case, list[str]]]]:
    """The cases that both have answered, by how the answers compare, with the details."""
    ones, others = answers(folder, first), answers(folder, second)
    unsure = answers(folder, f"{first}-swapped")
    found = defaultdict(list)
    for case in load_cases(root=folder):
        name = case.path.stem
        if name in ones and name in others:
            kind, words = compared(case, ones[name], others[name])
            if kind == "rows" and name in unsure:
                swapped, _ = compared(case, ones[name], unsure[name])
                kind = kind if swapped in ("same", "types") else "order matters"
            found[kind].append((case, words))
    return found


def compared(case: Case, one: Answer, other: Answer) -> tuple[str, list[str]]:
    if "crash" in other:
        return "crash", [other["crash"]]
    if "error" in one or "error" in other:
        if "error" in one and "error" in other:
            return "both refuse", [one["error"], other["error"]]
        refusing = "first" if "error" in one else "second"
        return f"{refusing} refuses", [one.get("error") or other["error"]]
    if "+U" in (ops := {op for op, _ in one["changes"]}) and "-U" not in ops:
        return "upserts", []
    rows, problems = materialize([(op, row) for op, row in one["changes"]])
    if problems:
        return "unsound first", problems
    judged = replace(case, expected=rows, flink={"schema": one["schema"]}, compare="materialized")
    if found := differences(judged, [(op, row) for op, row in other["changes"]]):
        return "rows", found
    types = {name: type_.replace("`", "") for name, type_ in one["schema"].items()}
    if types != other["schema"]:
        pairs = [(n, types[n], t) for n, t in other["schema"].items() if types.get(n) != t]
        return "types", [f"{n}: {a}, but {b}" for n, a, b in pairs]
    return "same", []


def _print(case: Case, words: list[str]) -> None:
    print(f"--- {case.path.stem}")
    for statement in [*case.setup, case.query]:
        print(f"  {statement};")
    for line in words:
        print(f"    {line}")


if __name__ == "__main__":
    sys.exit(main())
