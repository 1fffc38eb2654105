#!/usr/bin/env bash
# coverage.sh BUILD: the line coverage of the folders that do not need torch, from the counters of the tests run there.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
gcovr --root . --filter base/ --filter datasets/ --filter results/ --filter experiments/ --filter cmd/ -j "$(nproc)" \
  --exclude-unreachable-branches --csv "$build/lines.csv" "$build" >/dev/null
awk -F, 'NR > 1 {split($1, part, "/"); lines[part[1]] += $2; hit[part[1]] += $3; all += $2; good += $3}
         END {for (folder in lines) printf "line coverage %-12s %5.1f %%\n", folder, 100 * hit[folder] / lines[folder]
              printf "line coverage of the torch-free code: %.1f %% (%d of %d lines)\n", 100 * good / all, good, all}' "$build/lines.csv"
