#!/usr/bin/env bash
# soak.sh BUILD: the campaigns of docs/reliability.md as a whole, of which tests run a sample, and fuzzing for longer.
#
# The campaign on a Slurm starts one by the program that XLM_TEST_SLURM names, otherwise by the one that lies beside this
# checkout, which wants root and the packages slurm-wlm and munge. What this machine cannot do is named at the end, and
# then it was not the whole: exit code 1.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
said=$(mktemp)
trap 'rm -f "$said"' EXIT

beside=$PWD/../shared/tools/local-slurm
if [ -z "${XLM_TEST_SLURM:-}" ] && [ -x "$beside" ]; then
  if [ "$(id -u)" = 0 ] && command -v slurmctld >/dev/null && command -v slurmd >/dev/null &&
    command -v munged >/dev/null; then
    export XLM_TEST_SLURM=$beside
  else
    echo "soak: $beside starts a Slurm for root where slurm-wlm and munge are installed" >&2
  fi
fi

XLM_CAMPAIGNS=full "$build/bin/test_campaigns" | tee -a "$said"
XLM_KILLS=${XLM_KILLS:-200} "$build/bin/test_pipeline" --gtest_filter='*Killed*' | tee -a "$said"
XLM_CAMPAIGNS=full "$build/bin/test_pipeline" --gtest_filter='RealDamage.*' | tee -a "$said"
scripts/trained_numbers.sh "$build" | tee -a "$said"
XLM_SIMULATIONS=full "$build/bin/test_results" --gtest_filter='*Simulation.*' | tee -a "$said"
XLM_FUZZ_SECONDS=${XLM_FUZZ_SECONDS:-300} scripts/fuzz.sh

skipped=$(sed -nE 's/^\[  SKIPPED \] ([^ ]+\.[^ ]+) \(.*/  \1/p' "$said")
if [ -n "$skipped" ]; then
  { echo "soak: not the whole; skipped, for the reasons that stand above:"; echo "$skipped"; } >&2
  exit 1
fi
