#!/usr/bin/env python3
"""coverage.py BUILD: the line coverage of the folders that need no torch, from the counters of the tests run in BUILD.

gcov reads the counters. A line is covered if any object file ran it. Tests kill programs, sometimes while these write
their counters. The counts of such a file are lost, and its name is printed.
"""
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

FOLDERS = ("base", "datasets", "results", "experiments", "cmd")


def lines_of(counters):
    """The source lines of one object file: {(path, line): whether it ran}."""
    out = subprocess.run(["gcov", "--json-format", "--stdout", counters], capture_output=True, check=True, cwd=ROOT).stdout
    ran = {}
    for report in out.decode().splitlines():
        for source in json.loads(report)["files"]:
            path = os.path.relpath(os.path.join(ROOT, source["file"]), ROOT)
            if path.split("/")[0] in FOLDERS:
                for line in source["lines"]:
                    key = (path, line["line_number"])
                    ran[key] = ran.get(key, False) or line["count"] > 0
    return ran


ROOT = pathlib.Path(__file__).resolve().parent.parent
counters = sorted(str(path.resolve()) for path in pathlib.Path(sys.argv[1]).rglob("*.gcda"))
if not counters:
    sys.exit(f"{sys.argv[1]} holds no counters: run its tests first")
ran = {}
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for lines in pool.map(lines_of, counters):
        for key, covered in lines.items():
            ran[key] = ran.get(key, False) or covered
log = pathlib.Path(sys.argv[1]) / "counters.log"
if log.exists():
    for lost in sorted(set(re.findall(r"error:(.*?\.gcda):", log.read_text(errors="replace")))):
        print(f"counters lost by a kill, so that covered lines are missing: {os.path.relpath(lost, ROOT)}")
lines, covered = collections.Counter(), collections.Counter()
for (path, _), hit in ran.items():
    lines[path.split("/")[0]] += 1
    covered[path.split("/")[0]] += hit
for folder in FOLDERS:
    print(f"line coverage of {folder + '/':<13} {100 * covered[folder] / max(1, lines[folder]):5.1f} %")
print(f"line coverage of the torch-free code: {100 * covered.total() / lines.total():.1f} % ({covered.total()} of {lines.total()} lines)")
