#!/usr/bin/env bash
# soak.sh BUILD: the campaigns of docs/reliability.md as a whole, of which tests run a sample, and fuzzing for longer.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
XLM_CAMPAIGNS=full "$build/bin/test_campaigns"
XLM_KILLS=${XLM_KILLS:-200} "$build/bin/test_pipeline" --gtest_filter='*Killed*'
XLM_FUZZ_SECONDS=${XLM_FUZZ_SECONDS:-300} scripts/fuzz.sh
