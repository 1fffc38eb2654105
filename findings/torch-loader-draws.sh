#!/usr/bin/env bash
# Most would expect: going through validation data in order, without workers and without shuffling, draws no random number.
# What happens: every pass over a DataLoader draws one from the generator that training uses. How often a run validates
#   therefore changes its dropout and its samples. A loader with its separate generator draws none.
# Version: torch 2.11.0 (about 3 GB to download, 5 GB in the temporary folder)
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install torch==2.11.0 numpy==2.4.6
observe <<'PYTHON'
import torch
from torch.utils.data import DataLoader

for name, options in (("no validation", None), ("validation each step", {}),
                      ("validation with its generator", {"generator": torch.Generator()})):
    torch.manual_seed(1)
    masks = []
    for step in range(3):
        masks.append("".join("1" if x else "0" for x in torch.nn.functional.dropout(torch.ones(16))))
        if options is not None:
            for row in DataLoader(list(range(4)), batch_size=2, shuffle=False, num_workers=0, **options):
                pass
    print(f"{name}: dropout of three steps {' '.join(masks)}")
PYTHON
expect <<'TEXT'
no validation: dropout of three steps 1111011001010111 0100000001100111 0001011111111101
validation each step: dropout of three steps 1111011001010111 1000000011001110 0101111111110111
validation with its generator: dropout of three steps 1111011001010111 0100000001100111 0001011111111101
TEXT
