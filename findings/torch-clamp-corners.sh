#!/usr/bin/env bash
# Most would expect: a value at the bound of a clamp has the gradient that it always had, and bounds are numbers or tensors
#   alike.
# What happens: from 2.14 on the gradient there is 0 if the bounds are numbers, and a half if they are tensors. Up to 2.13 it
#   was 1 in both cases. A soft mask whose span begins at a whole number, as in adaptive attention span, learns otherwise:
#   its span's gradient was 1.25 below, with one distance at either corner.
# Version: torch 2.15.0 (about 3 GB to download, 5 GB in the temporary folder)
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install torch==2.15.0 numpy==2.4.6
observe <<'PYTHON'
import torch

x = torch.tensor([-1.0, 0.0, 0.5, 1.0, 2.0], requires_grad=True)
low, high = torch.zeros(5), torch.ones(5)
for name, value in (("clamp to numbers", x.clamp(0, 1)), ("clamp to tensors", x.clamp(low, high)),
                    ("minimum of maximum", torch.minimum(torch.maximum(x, low), high))):
    gradient, = torch.autograd.grad(value.sum(), x)
    print(f"{name}: values {value.tolist()}, gradient {gradient.tolist()}")
span = torch.zeros((), requires_grad=True)  # a soft mask of width 4 whose span begins at 0
mask = ((span - torch.arange(6)) / 4 + 1).clamp(0, 1)
gradient, = torch.autograd.grad(mask.sum(), span)
print(f"soft mask: {mask.tolist()}, gradient of its span {gradient.item()}")
PYTHON
expect <<'TEXT'
clamp to numbers: values [0.0, 0.0, 0.5, 1.0, 1.0], gradient [0.0, 0.0, 1.0, 0.0, 0.0]
clamp to tensors: values [0.0, 0.0, 0.5, 1.0, 1.0], gradient [0.0, 0.5, 1.0, 0.5, 0.0]
minimum of maximum: values [0.0, 0.0, 0.5, 1.0, 1.0], gradient [0.0, 0.5, 1.0, 0.5, 0.0]
soft mask: [1.0, 0.75, 0.5, 0.25, 0.0, 0.0], gradient of its span 0.75
TEXT
