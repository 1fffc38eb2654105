#!/usr/bin/env bash
# Most would expect: numpy's mean of a thousand ones in bfloat16 is 1. In float16 it is, computed in float32.
# What happens: for the bfloat16 of ml_dtypes, which is what checkpoints of jax and safetensors have, numpy sums in
#   bfloat16. The sum stays at 256, and the mean is about a quarter. sort leaves numbers around a NaN as they are.
# Version: numpy 2.4.6, ml_dtypes 0.6.0
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install numpy==2.4.6 ml-dtypes==0.6.0
observe <<'PYTHON'
import ml_dtypes, numpy

for kind in (numpy.float16, ml_dtypes.bfloat16):
    ones = numpy.ones(1000, kind)
    print(f"{ones.dtype}: sum {float(ones.sum()):g}, mean {float(ones.mean()):.4f}, "
          f"mean in float32 {float(ones.mean(dtype=numpy.float32)):g}")
    print(f"  sorted {[float(x) for x in numpy.sort(numpy.array([3, numpy.nan, 1], kind))]}")
PYTHON
expect <<'TEXT'
float16: sum 1000, mean 1.0000, mean in float32 1
  sorted [1.0, 3.0, nan]
bfloat16: sum 256, mean 0.2559, mean in float32 1
  sorted [3.0, nan, 1.0]
TEXT
