#!/usr/bin/env bash
# test_extras.sh BUILD: the tests that are skipped on a plain machine for want of a browser or of LaTeX. Installs both, and
# fails where one of them is skipped all the same.
set -euo pipefail
cd "$(dirname "$0")/.."
EXTRAS=1 scripts/setup.sh
log=$(mktemp)
trap 'rm -f "$log"' EXIT
ctest --test-dir "$1" -R '^results\.(Browser|LatexTables)\.' --output-on-failure --no-tests=error | tee "$log"
if grep -q Skipped "$log"; then
  echo "test-all: a test was skipped that has what it needs" >&2
  exit 1
fi
