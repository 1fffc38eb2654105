#!/usr/bin/env python3
"""docs_numbers.py BUILD [demo|cookbook|data|corpus|steps …]: measures the numbers of README and docs/ again, next to the old ones.

  demo      the console blocks of docs/demo.md: five small models, minutes
  cookbook  docs/tutorial.md and docs/cookbook.md from top to bottom: tiny models, minutes; --write updates the pages
  data      the console blocks of docs/corpora.md, from the real texts in XLM_REAL_TEXTS; blocks whose text is missing are left out
  corpus    the size of the demo's corpus in docs/corpora.md
  steps     the rows of bench/records/README.md that `step_time` measures; `make bench` measures the rest of that page

Blocks are compared line by line: a line with - is in the page, a line with + is new. Times always differ, and the last
digits of losses differ on other processors. So the exit status is 0 unless a command fails. Other measurements take
hours or other programs; the pages say how to repeat them.
"""
import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
REAL_TEXTS = pathlib.Path(os.environ.get("XLM_REAL_TEXTS", ROOT / "../shared/data"))
# The files that commands of docs/corpora.md name, and the real text that each one is.
RAW = {
    "text8.first4503641.gz": "wikipedia-en/text8.first4503641.gz",
    "enwik8.first4150000": "wikipedia-en/enwik8.first4150000",
    "wikitext": "wikitext",
    "gutenberg": "gutenberg",
    "gpt2": "gpt2",
}


def console_blocks(page):
    """[(command, output)] of the page's console blocks, in order."""
    found = []
    for block in re.findall(r"^```\n(\$ xlm .*?)^```$", (ROOT / page).read_text(), re.M | re.S):
        for part in re.split(r"^(?=\$ )", block, flags=re.M):
            if part:
                command, _, output = part[2:].partition("\n")
                found.append((command, output.strip("\n")))
    return found


def differences(page, command, before, now):
    print(f"\n== {page}: {command}")
    lines = list(difflib.unified_diff(before.splitlines(), now.splitlines(), lineterm="", n=0))[2:]
    print("\n".join(line for line in lines if not line.startswith("@@")) or "as in the page")


def run(xlm, command, folder):
    words = command.split()
    done = subprocess.run([xlm, *words[1:]], cwd=folder, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        sys.exit(f"{command}\n{done.stderr}failed with exit code {done.returncode}")
    return done.stdout.strip("\n")


def demo_corpus(folder):
    subprocess.run([ROOT / "scripts/demo_corpus.sh", folder / "demo/headers.txt"], check=True)
    return folder / "demo/headers.txt"


def demo(build, folder):
    (folder / "experiments").symlink_to(ROOT / "experiments")
    demo_corpus(folder)
    run(build / "bin/xlm", "xlm prepare-data text --clean text8 --from demo/headers.txt --out demo/data/headers", folder)
    for command, before in console_blocks("docs/demo.md"):
        differences("docs/demo.md", command, before, run(build / "bin/xlm", command, folder))


def cookbook(build, folder, write):
    for page in ("tutorial", "cookbook"):
        (folder / page).mkdir()
        follow(ROOT / f"docs/{page}.md", build, folder / page, write)


def follow(page, build, folder, write):
    """Follows the page: runs `sh` blocks and commands, and writes the file that a YAML block's first line names."""
    environment = {**os.environ, "XLM": str(ROOT), "PATH": f"{build / 'bin'}:{os.environ['PATH']}"}

    def output(command):
        done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{command}\n{done.stderr}failed with exit code {done.returncode}")
        return done.stdout.strip("\n")

    def remade(match):
        kind, block = match.groups()
        if kind == "yaml":
            (folder / re.match(r"# (\S+)\n", block)[1]).write_text(block)
        elif kind == "sh":
            output(block)
        elif not kind:
            parts = []
            for part in re.split(r"^(?=\$ )", block, flags=re.M)[1:]:
                command, _, before = part[2:].partition("\n")
                now = output(command)
                differences(page.relative_to(ROOT), command, before.strip("\n"), now)
                parts.append(f"$ {command}\n{now}\n")
            return "```\n" + "\n".join(parts) + "```"
        return match[0]

    text = re.sub(r"^```(\w*)\n(.*?)^```$", remade, page.read_text(), flags=re.M | re.S)
    if write:
        page.write_text(text)


def vietnamese(folder):
    """Writes raw/vi: the sample's articles in wiki40b's form, nine tenths of them for training."""
    sample = REAL_TEXTS / "wiki-vi/viwiki-sample.wiki40b-form.txt"
    if not sample.exists():
        return
    mark = "\n_START_ARTICLE_\n"
    articles = [mark + article for article in sample.read_text().split(mark)[1:]]
    train, valid = int(0.9 * len(articles)), int(0.95 * len(articles))
    (folder / "raw/vi").mkdir(parents=True)
    for name, part in {"train": articles[:train], "validation": articles[train:valid], "test": articles[valid:]}.items():
        (folder / "raw/vi" / f"{name}.txt").write_text("".join(part))


def data(build, folder):
    vietnamese(folder)
    for name, text in RAW.items():
        if (REAL_TEXTS / text).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).symlink_to((REAL_TEXTS / text).resolve())
    for command, before in console_blocks("docs/corpora.md"):
        words = command.split()
        needed = [words[i + 1] for i, word in enumerate(words) if word in ("--from", "--bpe")]
        if missing := [name for name in needed if not (folder / name).exists()]:
            print(f"\n== docs/corpora.md: {command}\nleft out: {', '.join(missing)} is missing")
            continue
        differences("docs/corpora.md", command, before, run(build / "bin/xlm", command, folder))


def corpus(build, folder):
    text = demo_corpus(folder)
    run(build / "bin/xlm", "xlm prepare-data text --from demo/headers.txt --clean text8 --out demo/data", folder)
    tokens = sum((folder / "demo/data" / f"{split}.bin").stat().st_size for split in ("train", "valid", "test"))
    said = re.search(r"About (.*?) are left", (ROOT / "docs/corpora.md").read_text())[1]
    print(f"\n== docs/corpora.md: the demo's corpus\n- {said}\n+ {text.stat().st_size} bytes, {tokens} characters when cleaned")


def steps(build, folder):
    page = (ROOT / "bench/records/README.md").read_text()
    head = None
    stands = {}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if cells and cells[0] == "row":
            head = cells
        elif cells and head and "xlm, ms" in head and (name := re.fullmatch(r"`(.+)`", cells[0])):
            stands.setdefault(name[1], []).append(cells[head.index("xlm, ms")])
    out = subprocess.run([build / "bin/step_time", *stands], cwd=folder, capture_output=True, text=True, check=True).stdout
    print("\n== bench/records/README.md: milliseconds per step in its tables, from several machines, and now")
    for line in out.splitlines():
        if (words := line.split()) and words[0] in stands:
            print(f"{words[0]:<16} page {', '.join(stands[words[0]]):>16}  now {words[1]:>8}  of the limit now {' '.join(words[5:])}")


def main():
    parts = {part.__name__: part for part in (demo, cookbook, data, corpus, steps)}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="where the program was built: build/release")
    parser.add_argument("only", nargs="*", choices=[[], *parts], help="which of them (all)")
    parser.add_argument("--write", action="store_true", help="cookbook: put what comes out into the pages")
    arguments = parser.parse_args()
    for name in arguments.only or parts:
        with tempfile.TemporaryDirectory() as folder:
            write = [arguments.write] if name == "cookbook" else []
            parts[name](arguments.build.resolve(), pathlib.Path(folder), *write)


if __name__ == "__main__":
    sys.exit(main())
