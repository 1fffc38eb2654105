#!/usr/bin/env bash
# Most would expect: load_dataset of a folder of texts reads all of them; without a split in its name, a file is training.
# What happens: as soon as the names of some files say a split, all files whose names say none are left out, without a
#   word. Here a corpus of five files becomes one of two.
# Version: datasets 5.2.0
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install datasets==5.2.0 pyarrow==26.0.1 pandas==3.1.1 numpy==2.4.6
export HF_HOME=$folder/hub HF_HUB_OFFLINE=1
observe <<'PYTHON'
import os
import datasets

datasets.disable_progress_bars()
os.mkdir("corpus")
for number in (1, 2, 3):
    with open(f"corpus/book-{number}.txt", "w") as file:
        file.write(f"book {number}\n")


def lines():
    return {split: rows["text"][:] for split, rows in datasets.load_dataset("text", data_dir="corpus").items()}


print("three books:", lines())
for name in ("notes-train", "held-out-test"):
    with open(f"corpus/{name}.txt", "w") as file:
        file.write(f"{name}\n")
print("two files more:", lines())
PYTHON
expect <<'TEXT'
three books: {'train': ['book 1', 'book 2', 'book 3']}
two files more: {'train': ['notes-train'], 'test': ['held-out-test']}
TEXT
