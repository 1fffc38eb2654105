#!/usr/bin/env bash
# soak.sh BUILD: runs the campaigns of tests/campaigns in full, of which tests run a sample, prepares corpora of
# gigabytes, and fuzzes for longer.
#
# The Slurm campaign starts a Slurm with the program that XLM_TEST_SLURM names, or else with one next to this checkout.
# The latter needs root and the packages slurm-wlm and munge. Campaigns that this machine cannot run are listed at the
# end; then the exit code is 1.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
said=$(mktemp)
trap 'rm -f "$said"' EXIT

local_slurm=$PWD/../shared/tools/local-slurm
if [ -z "${XLM_TEST_SLURM:-}" ] && [ -x "$local_slurm" ]; then
  if [ "$(id -u)" = 0 ] && command -v slurmctld >/dev/null && command -v slurmd >/dev/null &&
    command -v munged >/dev/null; then
    export XLM_TEST_SLURM=$local_slurm
  else
    echo "soak: $local_slurm can start a Slurm for root if slurm-wlm and munge are installed" >&2
  fi
fi

if [ -x "$build/bin/test_null_cuda" ]; then  # only with libtorch's CUDA set
  XLM_CAMPAIGNS=full "$build/bin/test_null_cuda" | tee -a "$said"
else
  echo "soak: libtorch is the CPU set: runs on GPUs that compute nothing are left out (make setup CUDA=1)" >&2
fi
XLM_CAMPAIGNS=full "$build/bin/test_campaigns" | tee -a "$said"
XLM_KILLS=${XLM_KILLS:-200} "$build/bin/test_pipeline" --gtest_filter='*Killed*' | tee -a "$said"
XLM_CAMPAIGNS=full "$build/bin/test_pipeline" --gtest_filter='RealDamage.*' | tee -a "$said"
scripts/trained_numbers.sh "$build" | tee -a "$said"
XLM_SIMULATIONS=full "$build/bin/test_results" --gtest_filter='*Simulation.*' | tee -a "$said"
scripts/soak_corpora.sh "$build"
XLM_FUZZ_SECONDS=${XLM_FUZZ_SECONDS:-300} scripts/fuzz.sh

skipped=$(sed -nE 's/^\[  SKIPPED \] ([^ ]+\.[^ ]+) \(.*/  \1/p' "$said")
if [ -n "$skipped" ]; then
  { echo "soak: incomplete; skipped, for the reasons above:"; echo "$skipped"; } >&2
  exit 1
fi
