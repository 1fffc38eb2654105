#!/usr/bin/env python3
"""bench_page.py XLM RUNS: times questions to the live page of a folder of runs, each the median of seven.

Starts `xlm runs watch --serve`, asks as the page does, and stops it. The first row has the columns read from the store;
the page asks it once after something has changed.
"""
import json
import statistics
import subprocess
import sys
import time
import urllib.parse
import urllib.request

ROUNDS = 7
DIRECTLY = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # not by a proxy that the environment names
QUESTIONS = [
    ("the first 200 runs", "runs.json", []),
    ("sorted by test.bpc", "runs.json", [("sort", "test.bpc")]),
    ("model.span=256, optimizer.lr<0.05, by seed", "runs.json",
     [("where", "model.span=256,optimizer.lr<0.05"), ("sort", "seed")]),
    ("all runs in one table", "runs.json", [("limit", "100000")]),
    ("whether something has changed", "state.json", []),
]


def ask(address, name, query):
    begin = time.monotonic()
    with DIRECTLY.open(f"{address}{name}?{urllib.parse.urlencode(query)}") as response:
        answer = json.load(response)
    return time.monotonic() - begin, answer


def show(label, seconds):
    print(f"{label:<58} {seconds:5.3f} s")


def main():
    program, runs = sys.argv[1:]
    served = subprocess.Popen(
        [program, "runs", "watch", "--serve", "--json", "--quiet", "--runs", runs], stdout=subprocess.PIPE, text=True
    )
    try:
        address = json.loads(served.stdout.readline())["address"]
        first, answer = ask(address, "runs.json", [])
        show(f"{answer['all']} runs, the first question after a look", first)
        for label, name, query in QUESTIONS:
            show(label, statistics.median(ask(address, name, query)[0] for _ in range(ROUNDS)))
        chosen = [("run", row["id"]) for row in answer["rows"][:50]]
        show("curves of 50 runs", statistics.median(ask(address, "curves.json", chosen)[0] for _ in range(ROUNDS)))
    finally:
        served.terminate()
        served.wait()


if __name__ == "__main__":
    main()
