#!/usr/bin/env bash
# test_extras.sh BUILD: installs a browser and LaTeX, and runs the tests that are skipped without them. Fails if one of
# them is skipped all the same.
set -euo pipefail
cd "$(dirname "$0")/.."
EXTRAS=1 scripts/setup.sh
log=$(mktemp)
trap 'rm -f "$log"' EXIT
ctest --test-dir "$1" -R '^results\.((Served)?Browser|LatexTables)\.' --parallel "$(nproc)" --output-on-failure --no-tests=error | tee "$log"
if grep -q Skipped "$log"; then
  echo "test-all: a test was skipped although the browser and LaTeX are installed" >&2
  exit 1
fi
