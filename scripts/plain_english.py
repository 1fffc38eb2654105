#!/usr/bin/env python3
"""plain_english.py [FILE or FOLDER…]: finds words of WORDS in sources, messages and pages; without arguments in HELD.

In pages of the manual it also finds sentences and cells of tables that are too long, and sentences that begin with "Of".
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
MANUAL = ("README.md", "docs/", "experiments/recipes/")
MAX_SENTENCE, MAX_CELL = 30, 25  # words; code within a line counts as one
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


def parts_of(page):
    """(line, whether it is a cell, text) of the page's paragraphs, items and cells, without code and addresses."""
    text = re.sub(r"^```.*?^```$", lambda block: "\n" * block[0].count("\n"), page, flags=re.M | re.S)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", lambda code: "code" + "\n" * code[0].count("\n"), text))
    start, paragraph = 0, []
    for number, line in enumerate([*text.split("\n"), ""], 1):
        item = re.match(r"\s*(?:[-*>]|\d+\.) ", line)
        if item or not line.strip() or line.startswith(("|", "#", "<")):
            if paragraph:
                yield start, False, " ".join(paragraph)
            paragraph = []
        if line.startswith("|"):
            yield from ((number, True, cell) for cell in line.strip("|").split("|"))
        elif line.strip() and not line.startswith(("#", "<")):
            start = start if paragraph else number
            paragraph.append(line[item.end():] if item else line)


def length(text):
    return sum(1 for word in text.split() if re.search(r"\w", word))


def page_findings(path):
    """What a reader has to read twice."""
    for line, is_cell, text in parts_of(path.read_text(encoding="utf-8")):
        if is_cell and length(text) > MAX_CELL:
            yield f"{path}:{line}: a cell of {length(text)} words: {MAX_CELL}, and the rest below the table"
        for sentence in re.split(r"(?<!\bal\.)(?<=[.!?])[)*\"]*\s+", text):
            begin = " ".join(sentence.split()[:6])
            if not is_cell and length(sentence) > MAX_SENTENCE:
                yield f"{path}:{line}: {begin} …: a sentence of {length(sentence)} words: two sentences"
            if re.match(r"[(*]*Of ", sentence):
                yield f"{path}:{line}: {begin} …: begin with the subject"


def findings(path):
    text = text_of(path)
    is_page = path.suffix == ".md" and str(path).startswith(MANUAL)
    pages = list(page_findings(path)) if is_page else []
    if not ANY.search(text):
        return pages
    found = [(match.start(), re.sub(GAP, " ", match[0]).strip(), instead)
             for words, instead in PATTERNS for match in words.finditer(text)]
    return pages + [f"{path}:{text.count(chr(10), 0, start) + 1}: {words}: {instead}" for start, words, instead in sorted(found)]


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
