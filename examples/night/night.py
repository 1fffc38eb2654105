"""A night of 40 changes to train.py: `xlm try` next to a loop that keeps every better number.

    python3 examples/night/night.py run NIGHT TEXT   both loops, in the new folder NIGHT
    python3 examples/night/night.py truth NIGHT      what each change, and each program that was kept, is worth: 20 runs each
    python3 examples/night/night.py show NIGHT       the tables

The program needs numpy. `run` kills five commands `xlm try`, and gives each again.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
TRUTH_SEEDS = range(1001, 1021)
LINE = ["--line", "night", "--value", "valid.loss", "--noise", "5", "--json"]
KILLED = {3, 11, 19, 27, 35}  # changes whose `xlm try` is killed


def setting(line):
    """A change of a setting: a line behind the settings."""
    return [("    dropout = 0.1\n", f"    dropout = 0.1\n    {line}\n")]


# (name, written as, what is replaced by what)
CHANGES = [
    ("twice the learning rate", "real", setting("rate *= 2")),
    ("half the learning rate", "real", setting("rate /= 2")),
    ("no dropout", "real", setting("dropout = 0")),
    ("three times the dropout", "real", setting("dropout *= 3")),
    ("twice the hidden units", "real", setting("hidden *= 2")),
    ("half the batch", "real", setting("batch //= 2")),
    ("two letters less of context", "real", setting("context -= 2")),
    ("constant learning rate", "real", [("rate * (1 - step / (arguments.steps + 1))", "rate")]),
    (
        "rectified units",
        "real",
        [
            ("active = np.tanh(inputs @ w[\"hidden\"] + w[\"hidden_bias\"])",
             "active = np.maximum(0, inputs @ w[\"hidden\"] + w[\"hidden_bias\"])"),
            ("(1 - kept * kept) * (active != 0)", "(kept > 0)"),
        ],
    ),
    (
        "scores of the last letter",
        "real",
        [
            ("            \"scores_bias\": np.zeros(letters),\n",
             "            \"scores_bias\": np.zeros(letters),\n            \"last\": np.zeros((letters, letters)),\n"),
            ("return active @ w[\"scores\"] + w[\"scores_bias\"],",
             "return active @ w[\"scores\"] + w[\"scores_bias\"] + w[\"last\"][windows[:, -1]],"),
            ("        return {\n            \"vectors\": vectors,\n",
             "        last = np.zeros_like(w[\"last\"])\n        np.add.at(last, windows[:, -1], chances)\n"
             "        return {\n            \"last\": last,\n            \"vectors\": vectors,\n"),
        ],
    ),
    ("another comment", "useless", [("The optimizer Adam.", "Adam, an optimizer.")]),
    ("a variable renamed", "useless", [("to_vectors = (back", "parts = (back"), ("windows, to_vectors)", "windows, parts)")]),
    (
        "weights drawn in another order",
        "useless",
        [
            ("            \"scores\": rng.normal(0, 1 / np.sqrt(hidden), (hidden, letters)),\n", ""),
            ("        self.weights = {\n",
             "        self.weights = {\n            \"scores\": rng.normal(0, 1 / np.sqrt(hidden), (hidden, letters)),\n"),
        ],
    ),
    ("generator SFC64", "useless", [("np.random.PCG64(", "np.random.SFC64(")]),
    ("generator MT19937", "useless", [("np.random.PCG64(", "np.random.MT19937(")]),
    ("generator Philox", "useless", [("np.random.PCG64(", "np.random.Philox(")]),
    ("seeds from 1000 on", "useless", [("arguments.seed)", "arguments.seed + 1000)")]),
    ("odd seeds", "useless", [("arguments.seed)", "2 * arguments.seed + 1)")]),
    ("dropout asks the other end", "useless", [("(self.rng.random(active.shape) >= dropout)", "(self.rng.random(active.shape) < 1 - dropout)")]),
    ("dropout with its own generator", "useless", [("        self.rng = rng\n", "        self.rng = np.random.default_rng(rng.integers(1 << 30))\n")]),
    (
        "hidden weights start uniform",
        "useless",
        [("rng.normal(0, 1 / np.sqrt(context * width), (context * width, hidden))",
          "rng.uniform(-1, 1, (context * width, hidden)) * np.sqrt(3 / (context * width))")],
    ),
    (
        "output weights start uniform",
        "useless",
        [("rng.normal(0, 1 / np.sqrt(hidden), (hidden, letters))", "rng.uniform(-1, 1, (hidden, letters)) * np.sqrt(3 / hidden)")],
    ),
    ("vectors start uniform", "useless", [("rng.normal(0, 1, (letters, width))", "rng.uniform(-(3**0.5), 3**0.5, (letters, width))")]),
    ("hidden bias starts near zero", "useless", [("\"hidden_bias\": np.zeros(hidden)", "\"hidden_bias\": rng.normal(0, 1e-3, hidden)")]),
    ("a tenth of Adam's epsilon", "useless", [("epsilon=1e-8", "epsilon=1e-9")]),
    ("newest letter first", "useless", [("np.arange(-context, 0)", "np.arange(-1, -context - 1, -1)")]),
    ("letters of a batch in order", "useless", [("rng.integers(context, len(train), batch)", "np.sort(rng.integers(context, len(train), batch))")]),
    ("every second position drawn", "useless", [("rng.integers(context, len(train), batch)", "rng.integers(context, len(train), 2 * batch)[::2]")]),
    ("positions from fractions", "useless",
     [("rng.integers(context, len(train), batch)", "context + (rng.random(batch) * (len(train) - context)).astype(int)")]),
    (
        "gradients of a norm above 100 cut",
        "useless",
        [("        for name, gradient in gradients.items():\n",
          "        norm = np.sqrt(sum(float((gradient**2).sum()) for gradient in gradients.values()))\n"
          "        for name, gradient in gradients.items():\n            gradient = gradient * min(1, 100 / (norm + 1e-12))\n")],
    ),
    ("a decay of 1e-9", "useless", [("            weights[name] -= rate", "            weights[name] *= 1 - 1e-9\n            weights[name] -= rate")]),
    ("chances in single precision", "useless", [("        chances /= len(targets)\n", "        chances = (chances / len(targets)).astype(np.float32)\n")]),
    ("prints more often", "useless", [("step % 1000 == 0", "step % 500 == 0")]),
    ("tanh by the logistic function", "useless",
     [("np.tanh(inputs @ w[\"hidden\"] + w[\"hidden_bias\"])", "2 / (1 + np.exp(-2 * (inputs @ w[\"hidden\"] + w[\"hidden_bias\"]))) - 1")]),
    ("a little more momentum", "useless", [("first=0.9,", "first=0.901,")]),
    ("a little more rate", "useless", setting("rate *= 1.002")),
    ("a draw thrown away", "useless", [("    optimizer = Adam(model.weights)\n", "    optimizer = Adam(model.weights)\n    rng.random()\n")]),
    ("letters numbered backwards", "useless", [("    cut = len(ids)", "    ids = len(letters) - 1 - ids\n    cut = len(ids)")]),
    ("training starts 100 letters later", "useless", [("ids[:cut], ids[cut:]", "ids[100:cut], ids[cut:]")]),
    ("chances by another way", "useless",
     [("        chances = np.exp(scores - scores.max(axis=1, keepdims=True))\n",
       "        top = scores.max(axis=1, keepdims=True)\n        chances = np.exp(scores - top - np.log(np.exp(scores - top).sum(axis=1, keepdims=True)))\n")]),
]


def order():
    """The changes in the order of the night, shuffled by a fixed seed."""
    changes = list(CHANGES)
    random.Random(1).shuffle(changes)
    return changes


def changed(source, replacements):
    """The source with a change, or None if the lines that it changes are no longer there."""
    for old, new in replacements:
        if source.count(old) != 1:
            return None
        source = source.replace(old, new)
    return source


def value_of(source, folder, seed):
    """valid.loss of one run of a program, run as it is."""
    script = folder / f"{abs(hash((source, seed)))}.py"
    script.write_text(source)
    environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    done = subprocess.run([sys.executable, script, "--text", folder / "text.txt", "--seed", str(seed)],
                          capture_output=True, text=True, env=environment, check=False)
    script.unlink()
    found = re.search(r"valid (\S+)", done.stdout)
    return float(found.group(1)) if done.returncode == 0 and found else float("inf")


def xlm(words, folder, kill_after=None):
    """A command of xlm in a folder, with its output. It is killed after some seconds, and given again."""
    with subprocess.Popen(["xlm", *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        if kill_after is not None:
            time.sleep(kill_after)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                return xlm(words, folder)
        out, errors = process.communicate()
    if process.returncode not in (0, 10, 11, 12):
        raise SystemExit(f"xlm {' '.join(words)}: {process.returncode}\n{errors}")
    return out


def judged(folder, kills):
    """The night with `xlm try`: what each try said, and the program after it."""
    program = folder / "train.py"
    source = (HERE / "train.py").read_text()
    program.write_text(source)
    xlm(["train", "base.yaml", "--quiet"], folder)
    (run,) = [path.name for path in (folder / "runs").iterdir() if (path / "journal.jsonl").exists()]
    chance = random.Random(2)
    records = []
    for number, (name, kind, replacements) in enumerate(order()):
        edited = changed(source, replacements)
        if edited is None:
            continue
        program.write_text(edited)
        against = [] if records else ["--against", run]
        out = xlm(["try", "base.yaml", *against, *LINE, "--note", name], folder, chance.uniform(0.5, 2) if kills and number in KILLED else None)
        said = json.loads(out)
        if said["verdict"] == "keep":
            source = edited
        records.append({"loop": "try", "change": name, "written": kind, "kept": said["verdict"] == "keep", "source": source,
                        **{key: said.get(key) for key in ("verdict", "gain", "p", "level")}, "runs": said["cost"]["runs"]})
        print(f"{len(records):3d} {said['verdict']:9s} {name}", flush=True)
    return records


def greedy(folder):
    """The night with a loop that keeps every better number of one run."""
    source = (HERE / "train.py").read_text()
    best = value_of(source, folder, 1)
    records = []
    for name, kind, replacements in order():
        edited = changed(source, replacements)
        if edited is None:
            continue
        value = value_of(edited, folder, 1)
        kept = value < best
        gain = best - value
        if kept:
            source, best = edited, value
        records.append({"loop": "every better number", "change": name, "written": kind, "kept": kept, "source": source, "gain": gain, "runs": 1,
                        "believed": best})
    return records


def run(arguments):
    folder = arguments.night
    folder.mkdir()
    shutil.copy(arguments.text, folder / "text.txt")
    shutil.copy(HERE / "base.yaml", folder)
    records = greedy(folder) + judged(folder, not arguments.no_kills)
    (folder / "night.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))


def truth(arguments):
    """Twenty runs, with seeds that no loop has seen, of each change alone and of each program that was kept."""
    folder = arguments.night
    records = [json.loads(line) for line in (folder / "night.jsonl").open()]
    base = (HERE / "train.py").read_text()
    sources = {base} | {record["source"] for record in records} | {changed(base, change[2]) for change in CHANGES}
    pairs = [(source, seed) for source in sorted(sources) for seed in TRUTH_SEEDS]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        values = list(pool.map(lambda pair: value_of(pair[0], folder, pair[1]), pairs))
    of = {}
    for (source, _), value in zip(pairs, values):
        of.setdefault(source, []).append(value)
    alone = [{"change": name, "written": kind, "gains": [round(b - v, 7) for b, v in zip(of[base], of[changed(base, replacements)])]}
             for name, kind, replacements in CHANGES]
    (folder / "changes.jsonl").write_text("".join(json.dumps(change) + "\n" for change in alone))
    with (folder / "curves.csv").open("w") as file:
        file.write("run,loop,seed,step,valid.loss\n")
        for loop in ("try", "every better number"):
            sources = [base] + [record["source"] for record in records if record["loop"] == loop]
            for at, seed in enumerate(TRUTH_SEEDS):
                file.writelines(f"{loop} {seed},{loop},{seed},{step},{of[source][at]}\n" for step, source in enumerate(sources))
    for record in records:
        del record["source"]
    (folder / "night.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))


def show(arguments):
    folder = arguments.night
    records = [json.loads(line) for line in (folder / "night.jsonl").open()]
    gains = {change["change"]: change["gains"] for change in map(json.loads, (folder / "changes.jsonl").open())}
    print("| change | written as | gain alone, 20 seeds | try | runs | every better number |")
    print("| --- | --- | ---: | --- | ---: | --- |")
    by = {(record["loop"], record["change"]): record for record in records}
    for name, kind, _ in order():
        mean, error = statistics.mean(gains[name]), statistics.stdev(gains[name]) / len(gains[name]) ** 0.5
        tried, kept = by.get(("try", name)), by.get(("every better number", name))
        print(f"| {name} | {kind} | {mean:+.4f} ± {error:.4f} | {tried['verdict'] if tried else '-'} | {tried['runs'] if tried else 0} | "
              f"{('kept' if kept['kept'] else 'dropped') if kept else '-'} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for function in (run, truth, show):
        command = commands.add_parser(function.__name__, help=(function.__doc__ or "").split("\n")[0])
        command.add_argument("night", type=Path)
        command.set_defaults(function=function)
        if function is run:
            command.add_argument("text", type=Path)
            command.add_argument("--no-kills", action="store_true")
    arguments = parser.parse_args()
    arguments.function(arguments)


if __name__ == "__main__":
    main()
