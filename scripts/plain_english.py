#!/usr/bin/env python3
"""plain_english.py [FILE or FOLDER…]: finds words of WORDS in sources, messages and pages; without arguments in HELD.

Paths are relative to the project. Prints FILE:LINE: the words: what to write instead. Exits with 1 if it finds any.
"""
import pathlib
import re
import sys

# Folders and pages that are held to the list.
HELD = """
base bench cmd core datasets docs examples experiments python results scripts tests README.md
"""

# A phrase as a regular expression, and what to write instead. A blank also matches the end of a line.
WORDS = [
    (r"amid", "in, between, during"),
    (r"anew", "again"),
    (r"beside", "next to (a place); besides, in addition to"),
    (r"farther|farthest", "further, furthest"),
    (r"for want of", "because there is no …"),
    (r"such a one", "one, such a …"),
    (r"(?:can|could|may)(?:not)? be had|to be had", "is (not) available"),
    (r"says? (?:something|nothing) of", "describes, is about, does not mention"),
    (r"makes? no lie|leaves? no lie", "is never wrong, stays correct"),
    (r"somebody|someone", "a user, another process, …: who it is"),
    (r"nobody|no one", "no user, no process, …: who it is"),
    (r"everybody|everyone", "all users, all processes, …: who it is"),
    (r"whoever|whomever", "the user, the process, …: who it is"),
    (r"of (?:its|his|her|their|our) own", "its own …, separate"),
    (r"at work on", "is running it"),
    (r"(?:go|goes|going|gone|went) on with", "continue, resume"),
    (r"left no word", "exited without a final record"),
    (r"take away the", "uncomment, remove the"),
    (r"who says so", "its origin"),
    (r"(?:nothing|null|nullopt|empty|false|true|zero|none|-1) where", "nullopt (null, false, …) if"),
    (r"throws? (?:an? )?\w+(?:, \w+)? where", "throws … if"),
    (r"rather what is", "sampling temperature, tends to"),
    (r"likeliest", "most likely"),
    (r"say_how_\w+", "a name by role, such as record_status"),
    (r"enum class \w+(?:Are|Is)", "a name by role, such as ActivationPolicy"),
    (r"kMost\w*", "kMax…"),
]

SOURCES = {".h", ".cpp", ".cuh", ".def", ".inc", ".in", ".py", ".sh", ".md", ".yaml"}
GENERATED = {"docs/configuration.md"}  # from the help in core/api
QUOTING = {"scripts/plain_english.py", "tests/house/plain_english_test.cpp"}  # they contain the words themselves
GAP = r'(?:[\s/#"]|\\n)+'  # between words: blanks, a comment's next line, two parts of a string


def pattern(words):
    return re.compile(r"(?:(?<![\w-])|(?<=\\n))(?:" + words.replace(" ", GAP) + r")(?![\w-])", re.IGNORECASE)


PATTERNS = [(pattern(words), instead) for words, instead in WORDS]
ANY = pattern("|".join(words for words, _ in WORDS))  # most files have none


def text_of(path):
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.name == "CHANGELOG.md":  # what was written about older versions stays as it is
        text = "".join(re.split(r"(?m)^(?=## )", text)[:2])
    return text


def findings(path):
    text = text_of(path)
    if not ANY.search(text):
        return []
    found = [(match.start(), re.sub(GAP, " ", match[0]).strip(), instead)
             for words, instead in PATTERNS for match in words.finditer(text)]
    return [f"{path}:{text.count(chr(10), 0, start) + 1}: {words}: {instead}" for start, words, instead in sorted(found)]


def files(places):
    for place in map(pathlib.Path, places):
        if not place.exists():
            sys.exit(f"plain_english.py: there is no {place}")
        below = sorted(place.rglob("*")) if place.is_dir() else [place]
        yield from (path for path in below if path.suffix in SOURCES and path.is_file()
                    and str(path) not in GENERATED | QUOTING)


def main():
    found = [line for path in files(sys.argv[1:] or HELD.split()) for line in findings(path)]
    print("\n".join(found) if found else "plain English: clean")
    sys.exit(1 if found else 0)


main()
