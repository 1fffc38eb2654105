#!/usr/bin/env python3
"""data_threads.py XLM TEXT PICTURE [BPE]: how fast a text is prepared with one to twice as many threads as there are cores.

Prints MB a second on the clock, the best of two, and draws them. BPE is a folder with GPT-2's vocabulary. It needs
matplotlib, and disk for twice the text next to PICTURE.
"""
import os
import shutil
import subprocess
import sys
import time

if len(sys.argv) not in (4, 5):
    sys.exit(__doc__.splitlines()[0])
xlm, text, picture = sys.argv[1:4]
kinds = {"bytes": ["--unit", "byte"], "characters": [], "text8's alphabet": ["--clean", "text8"]}
if len(sys.argv) == 5:
    kinds["byte pairs"] = ["--unit", "bpe", "--bpe", sys.argv[4]]
megabytes = os.path.getsize(text) / 1e6
threads = range(1, 2 * len(os.sched_getaffinity(0)) + 1)
out = picture + ".data"


def seconds(words):
    shutil.rmtree(out, ignore_errors=True)
    start = time.monotonic()
    subprocess.run([xlm, "prepare-data", "text", "--from", text, "--out", out, *words], capture_output=True, check=True)
    return time.monotonic() - start


from matplotlib import pyplot  # after the arguments were looked at  # noqa: E402

_, axes = pyplot.subplots(figsize=(6, 3.6), layout="constrained")
for kind, words in kinds.items():
    rates = [megabytes / min(seconds([*words, "--threads", str(count)]) for _ in range(2)) for count in threads]
    print(f"{kind:18}", *(f"{rate:6.0f}" for rate in rates), flush=True)
    axes.plot(threads, rates, marker="o", label=kind)
axes.set(xlabel="threads", ylabel="MB a second", xticks=threads, ylim=(0, None))
axes.legend(title=f"{len(os.sched_getaffinity(0))} cores")
pyplot.savefig(picture, dpi=120)
shutil.rmtree(out, ignore_errors=True)
