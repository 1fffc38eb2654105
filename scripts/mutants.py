#!/usr/bin/env python3
"""Changes single lines of the torch-free folders, one after another, and lists the changes that no test notices.

By default these are the lines that differ from --base (main); with --sample N they are drawn by chance. The script works
on a copy in build/mutants/source and never touches the working tree, so a kill leaves nothing to undo. Each mutant is
built file by file without optimization. Its folder's test programs run until the first failure.

A survivor means that a test is missing, that code is not needed, or that a change makes no difference (then say why in
the commit or the review). The exit status is 0 if there is none.
"""
import argparse
import dataclasses
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "build/mutants/source"
BUILD = ROOT / "build/mutants/build"
# The test programs of each folder.
TESTS = {
    "base": ["test_base"],
    "datasets": ["test_datasets"],
    "results": ["test_results"],
    "experiments": ["test_experiments", "test_cmd"],
    "cmd": ["test_cmd", "test_experiments"],
}

# Patterns in a line of code and their replacements. Operators have spaces around them (clang-format), unlike templates
# and pointers.
OPERATORS = [
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "),
    (r" && ", " || "), (r" \|\| ", " && "), (r" \+ ", " - "), (r" - ", " + "), (r" \+= ", " -= "), (r" -= ", " += "),
    (r"\+\+(?=\w)", "--"), (r"(?<=[( ])!(?=[\w(])", ""), (r"\breturn true;", "return false;"),
    (r"\breturn false;", "return true;"), (r"\bif \((?=.*\) )", "if (!("), (r"(?<![\w.'\"{])0(?![\w.'x])", "1"),
    (r"(?<![\w.'])1(?![\w.'])", "2"), (r"\bmin\(", "max("), (r"\bmax\(", "min("), (r"\bcontinue;", "break;"),
]
STATEMENT = re.compile(r"^\s+(?!return\b|throw\b|break\b|using\b|case\b|delete\b|const\b|auto\b|static\b)"
                       r"(?:[\w:.\->\[\]*]+\(.*\)|[\w.\->\[\]*]+ [-+|]?= [^{]*|(?:\+\+|--)[\w.\->]+);$")


@dataclasses.dataclass
class Mutant:
    path: str
    line: int
    before: str
    after: str

    def __str__(self):
        return f"{self.path}:{self.line}\n  - {self.before.strip()}\n  + {self.after.strip() or '(deleted)'}"


def output(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def blanked(line):
    """The line with its strings and its comment blanked, so that no operator matches there."""
    line = re.sub(r'"(?:\\.|[^"\\])*"', lambda match: '"' + "_" * (len(match[0]) - 2) + '"', line)
    line = re.sub(r"'(?:\\.|[^'\\])'", lambda match: "'" + "_" * (len(match[0]) - 2) + "'", line)
    comment = line.find("//")
    return line if comment < 0 else line[:comment] + " " * (len(line) - comment)


def closing(code, begin):
    """Where the bracket that opens at `begin` closes; -1 if not on this line."""
    depth = 0
    for place in range(begin, len(code)):
        depth += {"(": 1, ")": -1}.get(code[place], 0)
        if depth == 0:
            return place
    return -1


def mutations(line):
    code = blanked(line)
    if re.match(r"\s*(#|using |namespace |template |static_assert|struct |class |enum )", code):
        return
    if STATEMENT.match(code):
        yield ""
    for pattern, replacement in OPERATORS:
        for match in re.finditer(pattern, code):
            if replacement == "if (!(":
                end = closing(code, match.end() - 1)
                if end < 0 or ";" in code[match.start():end]:
                    continue
                yield line[:match.start()] + "if (!(" + line[match.end():end] + "))" + line[end + 1:]
            else:
                yield line[:match.start()] + replacement + line[match.end():]


def changed_lines(base):
    """{path: lines} that the working tree has and `base` has not."""
    lines, path = {}, None
    for text in output("git", "diff", "--unified=0", base, "--", "*.cpp", "*.h").splitlines():
        if text.startswith("+++ "):
            path = text[6:]
        elif match := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", text):
            begin, count = int(match[1]), int(match[2] or 1)
            lines.setdefault(path, set()).update(range(begin, begin + count))
    return lines


def all_mutants(arguments):
    chosen = None if arguments.sample else changed_lines(arguments.base)
    for path in output("git", "ls-files", "*.cpp", "*.h").splitlines():
        if path.split("/")[0] not in arguments.folders or (chosen is not None and path not in chosen):
            continue
        for number, line in enumerate((ROOT / path).read_text().splitlines(), 1):
            if chosen is None or number in chosen[path]:
                for after in mutations(line):
                    yield Mutant(path, number, line, after)


def copy_sources():
    """Copies only files that differ, so that the others keep their times and are not built again."""
    names = output("git", "ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    for name in names:
        source, copy = ROOT / name, SOURCE / name
        if not source.is_file() or source.is_symlink():
            continue
        if not copy.exists() or copy.read_bytes() != source.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copy)
    for copy in SOURCE.rglob("*"):
        if copy.is_file() and str(copy.relative_to(SOURCE)) not in names:
            copy.unlink()
    dependencies = SOURCE / ".deps"  # tests look for it next to the sources
    if not dependencies.is_symlink():
        dependencies.symlink_to(ROOT / ".deps")


def configure():
    copy_sources()
    flags = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DXLM_CORE=OFF"]
    subprocess.run(["cmake", "-G", "Ninja", "-S", SOURCE, "-B", BUILD, *flags], check=True, stdout=subprocess.DEVNULL)


def build(targets):
    return subprocess.run(["cmake", "--build", BUILD, "--target", *targets], capture_output=True, text=True)


def first_failure(programs, limit):
    """The first test program that fails or takes more than `limit` seconds; None if all pass. Kills a program that is
    still running, with its children."""
    for program in programs:
        command = [BUILD / "bin" / program, "--gtest_brief=1", "--gtest_fail_fast"]
        process = subprocess.Popen(command, cwd=BUILD, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            if process.wait(limit) != 0:
                return program
        except subprocess.TimeoutExpired:
            return program
        finally:
            if process.poll() is None:
                os.killpg(process.pid, 9)
                process.wait()
    return None


def verdict(mutant, limit):
    """Returns killed, survived or "does not compile"."""
    copy = SOURCE / mutant.path
    original = copy.read_text()
    lines = original.split("\n")
    lines[mutant.line - 1] = mutant.after
    copy.write_text("\n".join(lines))
    try:
        programs = TESTS[mutant.path.split("/")[0]]
        if (built := build(programs)).returncode != 0:
            if "error:" not in built.stdout:  # the compiler was killed, the disk is full, …
                sys.exit(f"{built.stdout}{built.stderr}the build of a mutant was interrupted: {mutant}")
            return "does not compile"
        return "killed" if first_failure(programs, limit) else "survived"
    finally:
        copy.write_text(original)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default="main", help="the commit whose lines are left alone (main)")
    parser.add_argument("--sample", type=int, metavar="N", help="N mutants of any lines, drawn by chance")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (1)")
    parser.add_argument("--folders", nargs="+", default=list(TESTS), choices=list(TESTS), help="where to look (all)")
    arguments = parser.parse_args()
    mutants = list(all_mutants(arguments))
    if arguments.sample:
        mutants = random.Random(arguments.seed).sample(mutants, min(arguments.sample, len(mutants)))
    if not mutants:
        sys.exit("no line to change; use another --base, or --sample N")
    programs = sorted({program for mutant in mutants for program in TESTS[mutant.path.split("/")[0]]})
    print(f"{len(mutants)} mutants; building {', '.join(programs)}", flush=True)
    configure()
    if (built := build(programs)).returncode != 0:
        sys.exit(f"{built.stdout}the unchanged sources do not build")
    begin = time.monotonic()
    if failed := first_failure(programs, 3600):
        sys.exit(f"{failed} fails without a change")
    limit = 30 + 5 * (time.monotonic() - begin)
    counts = {"killed": 0, "survived": 0, "does not compile": 0}
    for number, mutant in enumerate(mutants, 1):
        result = verdict(mutant, limit)
        counts[result] += 1
        print(f"[{number}/{len(mutants)}] {result}: {mutant}", flush=True)
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    return 1 if counts["survived"] else 0


if __name__ == "__main__":
    sys.exit(main())
