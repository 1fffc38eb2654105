#!/usr/bin/env bash
# gpu_check.sh PROGRAM [ARGUMENTS…]: checks this machine's GPU, or its CPU if it has none (bench/gpu_check.cpp). In the
# package it is bin/gpu-check, which finds its program. If libtorch is not where it was at build time, XLM_LIBTORCH names
# the torch wheel's torch/lib.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=$here/../libexec/gpu_check
if [ ! -x "$program" ]; then
  program=$1
  shift
fi
export GOMP_SPINCOUNT=${GOMP_SPINCOUNT:-10000}  # as in the program (experiments/worker/core_library.cpp)
[ -z "${XLM_LIBTORCH:-}" ] || export LD_LIBRARY_PATH=$XLM_LIBTORCH${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
exec "$program" "$@"
