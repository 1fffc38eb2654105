#!/usr/bin/env python3
"""bench_compare.py FILE OTHER: compares two outputs of `make bench`, row by row.

Both are BUILD/bench.txt of some build, here or elsewhere. The last column is OTHER / FILE for times and memory and
FILE / OTHER for rates: above 1, FILE is better. Rows that only one of them has are listed at the end.
"""
import re
import sys

# "row  12.3 ms", "row  1.23 s, 2.34 s of processor time", "row  129 MB/s"
LINE = re.compile(r"^(\S.*?) {2,}(\d+(?:\.\d+)?) (ms|s|MB/s)\b")
STEP = re.compile(r"^(\S+) +(\d+(?:\.\d+)?) +\d+ +(\d+) +\d+(?:\.\d+)? +\d+ %$")  # a row of step_time


def rows(path):
    """({row: (value, unit)} in the file's order, its first two lines)."""
    found, section = {}, ""
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except OSError as error:
        sys.exit(f"{path} cannot be read: {error.strerror}; `make bench` writes BUILD/bench.txt")
    for line in lines:
        if line.startswith("== "):
            section = re.split(r" \(|[:,]", line[3:])[0]
        elif match := re.match(r"^\d+ threads, (\w+), fastest product (\d+) GFLOP/s$", line):
            section = f"step, {match[1]}"
            found[f"{section}: fastest product"] = float(match[2]), "GFLOP/s"
        elif match := STEP.match(line):
            found[f"{section}: {match[1]}"] = float(match[2]), "ms"
            found[f"{section}: {match[1]}, memory"] = float(match[3]), "MB"
        elif match := LINE.match(line):
            found[f"{section}: {match[1]}"] = float(match[2]), match[3]
    if not found:
        sys.exit(f"{path} is not an output of `make bench`: it has no measurements")
    return found, lines[:2]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.splitlines()[0])
    here, about_here = rows(sys.argv[1])
    there, about_there = rows(sys.argv[2])
    for path, about in zip(sys.argv[1:], (about_here, about_there)):
        print(f"{path}: {'; '.join(about)}")
    common = [row for row in here if row in there and here[row][1] == there[row][1]]
    width = max(map(len, common), default=3)
    print(f"\n{'row':{width}}  {'here':>9}  {'other':>9}           times better")
    for row in common:
        (mine, unit), (other, _) = here[row], there[row]
        more_is_better = unit.endswith("/s")
        times = (mine / other if more_is_better else other / mine) if mine and other else float("nan")
        print(f"{row:{width}}  {mine:9g}  {other:9g}  {unit:7}  {times:12.2f}")
    for path, only in ((sys.argv[1], here.keys() - set(common)), (sys.argv[2], there.keys() - set(common))):
        if only:
            print(f"\nonly in {path}: {', '.join(sorted(only))}")


main()
