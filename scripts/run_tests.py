#!/usr/bin/env python3
"""run_tests.py BUILD [--again [LABEL,…]] [CTEST OPTION…]: runs tests of BUILD by ctest, and counts them in one last line.

A process of ctest may hold many tests, so what it printed is counted. A skipped test prints a line "[LABEL] what is
missing: the command that makes it run" (tests/needs.h). BUILD/skipped.json keeps which tests were skipped.
--again runs these alone: of the labels, all of which must then be there, or of all, of which some may still be skipped.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

EVENT = re.compile(r"^\[ *(RUN|OK|SKIPPED|FAILED) *\] ([\w./]+)(?:,.*)?(?: \(\d+ ms\))?$")
REASON = re.compile(r"^(?:SKIPPED \[\d+\] .*?: )?(\[(\w+)\] .+)$", re.MULTILINE)
BRIEF = re.compile(r"^\[  PASSED  \] (\d+) tests?\.$", re.MULTILINE)
PYTEST = re.compile(r"^(?:(?P<failed>\d+) failed, )?(?P<passed>\d+) passed(?:, (?P<skipped>\d+) skipped)?.* in [\d.]+s", re.MULTILINE)


def label_of(text):
    """The reason for which a test was skipped, and its label."""
    found = REASON.search(text)
    return (found[2], found[1]) if found else ("other", text.strip().splitlines()[-1] if text.strip() else "no reason")


class Outcome:
    """What one entry of ctest did: counts, and the tests that were skipped."""

    def __init__(self, case):
        self.name = case.get("name")
        self.counts = collections.Counter()
        self.skipped = {}  # test: (label, reason)
        out = case.findtext("system-out") or ""
        status = case.get("status")
        if any(EVENT.match(line) for line in out.splitlines()):
            self.read_googletest(out)
        elif (brief := BRIEF.search(out)) and status == "run":
            self.counts["passed"] = int(brief[1])
        elif pytest := PYTEST.search(out):
            for word, count in pytest.groupdict(default="0").items():
                self.counts[word] = int(count)
            for label, reason in [(found[2], found[1]) for found in REASON.finditer(out)][:self.counts["skipped"]]:
                self.skipped[f"{self.name}: {reason}"] = (label, reason)
        elif status == "notrun" or case.find("skipped") is not None:
            self.skipped[self.name] = label_of(out)
            self.counts["skipped"] = 1
        else:
            self.counts["passed" if status == "run" else "failed"] = 1
        if status == "fail" and not self.counts["failed"]:  # a crash, the end of its time
            self.counts["failed"] = 1

    def read_googletest(self, out):
        said = ""
        ended = set()
        for line in out.splitlines():
            event = EVENT.match(line)
            if not event:
                said += line + "\n"
                continue
            kind, test = event.groups()
            if kind == "RUN":
                said = ""
            elif test not in ended:  # the last lines list the tests that were skipped or failed once more
                ended.add(test)
                self.counts[{"OK": "passed", "SKIPPED": "skipped", "FAILED": "failed"}[kind]] += 1
                if kind == "SKIPPED":
                    self.skipped[test] = label_of(said)


def ctest(build, options):
    """Runs ctest. Returns its exit code and the outcomes."""
    report = build / "tests.xml"
    report.unlink(missing_ok=True)
    # Threads that wait for each other leave the cores to other tests, as in the program (experiments/worker/core_library.cpp).
    environment = {"GOMP_SPINCOUNT": "10000", **os.environ}
    command = ["ctest", "--test-dir", str(build), "--output-on-failure", "--no-tests=error", "--output-junit",
               str(report.resolve()), "--test-output-size-passed", "100000000", "--parallel", str(os.cpu_count()), *options]
    code = subprocess.run(command, env=environment).returncode
    cases = xml.etree.ElementTree.parse(report).getroot().iter("testcase") if report.exists() else []
    return code, [Outcome(case) for case in cases]


def say(outcomes):
    """Prints the last line. Returns it and how many failed."""
    counts = sum((outcome.counts for outcome in outcomes), collections.Counter())
    by_label = collections.defaultdict(collections.Counter)
    for outcome in outcomes:
        for label, reason in outcome.skipped.values():
            by_label[label][re.sub(r"^\[\w+\] ", "", reason)] += 1
    reasons = [f"{sum(reasons.values())} {label} ({reasons.most_common(1)[0][0]})" for label, reasons in sorted(by_label.items())]
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped" +
          (": " + "; ".join(reasons) if reasons else ""))
    return counts["failed"]


def escaped(name):
    return re.sub(r"([.^$*+?()\[\]|])", r"\\\1", name)


def again(build, labels, options):
    """Runs the tests that were skipped. Returns the exit code and the outcomes."""
    skipped = skipped_in(build)
    chosen = {entry: {test: reason for test, reason in tests.items() if reason[0] != "model" and (not labels or reason[0] in labels)}
              for entry, tests in skipped.items()}
    chosen = {entry: tests for entry, tests in chosen.items() if tests}
    if not chosen:
        print("no test was skipped for " + (", ".join(sorted(labels)) or "what can be mended"))
        return int(bool(labels)), []
    listed = json.loads(subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], capture_output=True, check=True).stdout)
    entries = {test["name"]: test for test in listed["tests"] if "command" in test}
    shared = [entry for entry in chosen if re.search(r"\.part\d+$", entry)]
    own = [entry for entry in chosen if entry not in shared]
    code, outcomes = ctest(build, [*options, "-R", "^(" + "|".join(map(escaped, own)) + ")$"]) if own else (0, [])
    # Of a process that holds many tests, only those that were skipped.
    programs = collections.defaultdict(list)
    for entry in shared:
        given = next((p["value"] for p in entries[entry].get("properties", []) if p["name"] == "ENVIRONMENT"), [])
        kept = tuple(sorted(variable for variable in given if not variable.startswith("GTEST_")))
        programs[entries[entry]["command"][0], kept] += chosen[entry]
    for (program, variables), tests in programs.items():
        done = subprocess.run(["env", *variables, program, "--gtest_filter=" + ":".join(tests)],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        case = xml.etree.ElementTree.Element("testcase", name=pathlib.Path(program).name, status="fail" if done.returncode else "run")
        xml.etree.ElementTree.SubElement(case, "system-out").text = done.stdout
        outcomes.append(Outcome(case))
        if done.returncode:
            print(done.stdout)
            code = 1
    still = {test: reason for outcome in outcomes for test, reason in outcome.skipped.items()}
    for test, (label, reason) in still.items():
        if label in labels:
            print(f"{test} is skipped again: {reason}")
            code = 1
    keep(build, {entry: {test: reason for test, reason in tests.items() if test in still or test not in chosen.get(entry, {})}
                 for entry, tests in skipped.items()})
    return code, outcomes


def skipped_in(build):
    """The tests that the last runs skipped: {entry of ctest: {test: (label, reason)}}."""
    kept = build / "skipped.json"
    return json.loads(kept.read_text()) if kept.exists() else {}


def keep(build, skipped):
    (build / "skipped.json").write_text(json.dumps({name: tests for name, tests in skipped.items() if tests}, indent=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--again", nargs="?", const="", metavar="LABEL,…")
    arguments, options = parser.parse_known_args()
    if arguments.again is not None:
        code, outcomes = again(arguments.build, set(filter(None, arguments.again.split(","))), options)
        say(outcomes)
        return code
    code, outcomes = ctest(arguments.build, options)
    keep(arguments.build, skipped_in(arguments.build) | {outcome.name: outcome.skipped for outcome in outcomes})
    return int(say(outcomes) > 0 or code != 0)


sys.exit(main())
