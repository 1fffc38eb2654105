#!/usr/bin/env bash
# soak.sh BUILD: long campaigns that tests run only in short: kills at random steps, fuzzing of everything that parses.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
XLM_KILLS=${XLM_KILLS:-200} "$build/bin/test_pipeline" --gtest_filter='*Killed*'
XLM_FUZZ_SECONDS=${XLM_FUZZ_SECONDS:-300} scripts/fuzz.sh
