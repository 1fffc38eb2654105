#!/usr/bin/env bash
# Most would expect: safetensors saves the values of a numpy array, or refuses the array.
# What happens: the values of a transposed array, as of one in Fortran's order or with a stride, are written in the order
#   of its memory. Shape and type are right, the numbers are in other places, and nothing warns.
# Version: safetensors 0.8.0, numpy 2.4.6
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install safetensors==0.8.0 numpy==2.4.6
observe <<'PYTHON'
import numpy
from safetensors.numpy import load_file, save_file

weight = numpy.arange(6.0).reshape(2, 3)
arrays = {"transposed": weight.T, "in Fortran's order": numpy.asfortranarray(weight), "every second": weight.ravel()[::2],
          "transposed, a copy": numpy.ascontiguousarray(weight.T)}
for name, array in arrays.items():
    save_file({"weight": array}, "model.safetensors")
    print(f"{name}: saved {array.tolist()}, loaded {load_file('model.safetensors')['weight'].tolist()}")
PYTHON
expect <<'TEXT'
transposed: saved [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]], loaded [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
in Fortran's order: saved [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], loaded [[0.0, 3.0, 1.0], [4.0, 2.0, 5.0]]
every second: saved [0.0, 2.0, 4.0], loaded [0.0, 1.0, 2.0]
transposed, a copy: saved [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]], loaded [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]
TEXT
