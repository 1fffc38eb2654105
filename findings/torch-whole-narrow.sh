#!/usr/bin/env bash
# Most would expect: a part of a tensor that is all of it costs nothing, and the same however it is cut out.
# What happens: indexing with 0:3, and split, hand the gradient on as it is. narrow and the index [:] make a tensor of zeros
#   and copy the gradient into it. A model that cuts out the last positions of each layer, most times all, pays for it in
#   each backward pass: two kernels a layer on a GPU, and a third where attention then needs that gradient contiguous.
# Version: torch 2.15.0 (about 3 GB to download, 5 GB in the temporary folder)
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install torch==2.15.0 numpy==2.4.6
observe <<'PYTHON'
import torch
from torch.profiler import ProfilerActivity, profile


def counts(part):
    x = torch.ones(2, 3, 4, requires_grad=True)
    total = part(x * 2).sum()
    with profile(activities=[ProfilerActivity.CPU]) as seen:
        total.backward()
    names = [event.name for event in seen.events()]
    return ", ".join(f"{names.count('aten::' + name)} {name}" for name in ("slice_backward", "zeros"))


print("x:", counts(lambda x: x))
print("x[:, 0:3]:", counts(lambda x: x[:, 0:3]))
print("x.split(3, 1)[0]:", counts(lambda x: x.split(3, 1)[0]))
print("x.narrow(1, 0, 3):", counts(lambda x: x.narrow(1, 0, 3)))
print("x[:]:", counts(lambda x: x[:]))
PYTHON
expect <<'TEXT'
x: 0 slice_backward, 0 zeros
x[:, 0:3]: 0 slice_backward, 0 zeros
x.split(3, 1)[0]: 0 slice_backward, 0 zeros
x.narrow(1, 0, 3): 1 slice_backward, 1 zeros
x[:]: 1 slice_backward, 1 zeros
TEXT
