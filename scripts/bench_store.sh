#!/usr/bin/env bash
# bench_store.sh BUILD: the results store. Reading 20,000 run folders for the first time, and 100,000 that are known: syncing
# without news, listing, a Pareto front. Needs 3 GB where temporary files lie.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
xlm=$build/bin/xlm
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# timed LABEL COMMAND…: seconds on the clock and of processor time; the least of three. Its output goes to a file.
timed() {
  local label=$1
  shift
  for _ in 1 2 3; do /usr/bin/time -f '%e %U %S' -a -o "$work/times" "$@" >"$work/out" 2>/dev/null; done
  sort -n "$work/times" | awk -v label="$label" 'NR == 1 {printf "%-58s %5.2f s, %5.2f s of processor time\n", label, $1, $2 + $3}'
  rm "$work/times"
}

echo "== results store (bench/run_folders.cpp makes the run folders)"
"$build/bin/run_folders" "$work/runs" 20000
bytes=$(find "$work/runs" -name journal.jsonl -printf '%s\n' | awk '{sum += $1} END {print sum}')
timed "20,000 folders of 62 records, from nothing" "$xlm" runs sync --rebuild --runs "$work/runs"
echo "$bytes $(stat -c %s "$work/runs/results.db")" | awk '{printf "  journals of %.0f MB, a store of %.0f MB\n", $1 / 1e6, $2 / 1e6}'
rm -rf "$work/runs"

"$build/bin/run_folders" "$work/runs" 100000 12
"$xlm" runs sync --quiet --runs "$work/runs" >/dev/null
timed "100,000 folders of 34 records, without news" "$xlm" runs sync --runs "$work/runs"
timed "runs ls --where model.span=256 --where 'optimizer.lr<0.05'" \
  "$xlm" runs ls --runs "$work/runs" --where model.span=256 --where 'optimizer.lr<0.05'
timed "pareto --x flops_per_token --y test.bpc" "$xlm" pareto --runs "$work/runs" --x flops_per_token --y test.bpc
timed "pareto … --group-by model.span" \
  "$xlm" pareto --runs "$work/runs" --x flops_per_token --y test.bpc --group-by model.span
