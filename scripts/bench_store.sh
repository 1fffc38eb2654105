#!/usr/bin/env bash
# bench_store.sh BUILD: measures the results store and large sweeps. The store reads 20,000 run folders for the first
# time. Of 100,000 known ones it syncs without changes, lists, and computes a Pareto front. A sweep of 10,000 runs is
# planned and queued, and a worker does runs without training them. The live page answers questions about 10,000 runs.
# Needs 3 GB in the folder of temporary files.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
xlm=$build/bin/xlm
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# timed LABEL COMMAND…: the least elapsed seconds of three, with their processor time. Its output goes to a file.
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
timed "runs ls" "$xlm" runs ls --runs "$work/runs"
timed "runs ls --where model.span=256 --where 'optimizer.lr<0.05'" \
  "$xlm" runs ls --runs "$work/runs" --where model.span=256 --where 'optimizer.lr<0.05'
timed "pareto --x flops_per_token --y test.bpc" "$xlm" pareto --runs "$work/runs" --x flops_per_token --y test.bpc
timed "pareto … --group-by model.span" \
  "$xlm" pareto --runs "$work/runs" --x flops_per_token --y test.bpc --group-by model.span
if [ -d .deps/readers ]; then
  export PYTHONPATH=$PWD/python:$PWD/.deps/readers:$PWD/.deps/python
  XLM_EXECUTABLE=$(realpath "$xlm") timed "xlm.Runs(…).frame() in Python" \
    python3 -B -c 'import sys, xlm; assert len(xlm.Runs(sys.argv[1]).frame()) == 100000' "$work/runs"
fi

echo "== the live page of 10,000 runs (scripts/bench_page.py)"
rm -rf "$work/runs"
"$build/bin/run_folders" "$work/runs" 10000
"$xlm" runs sync --quiet --runs "$work/runs" >/dev/null
python3 -B scripts/bench_page.py "$xlm" "$work/runs"
rm -rf "$work/runs"

echo "== a sweep of 10,000 runs"
xlm=$(realpath "$build/fake/bin/xlm")
cd "$work"
printf 'line %s of a text that says little\n' $(seq 200) >text.txt
"$xlm" prepare-data text --from text.txt --out data --quiet >/dev/null
{
  echo 'data: {path: data}'
  echo 'model: {type: adaptive-span, width: 16, heads: 2, feed_forward: 32, layers: 1, span: 16}'
  echo 'train: {steps: 2, batch: 2, block: 8}'
  echo 'device: cpu'
} >run.yaml
sweep_of() { cat run.yaml && echo "sweep: {grid: {seed: [$(seq -s, "$1")]}}"; }
sweep_of 10000 >large.yaml
sweep_of 500 >small.yaml
queue() { rm -rf queued && "$xlm" sweep large.yaml --launcher manual --runs queued; }
take() { rm -rf taken && "$xlm" sweep small.yaml --launcher manual --runs taken --quiet && "$xlm" worker --quiet --sweep taken/.workers/*/work.json; }
export -f queue take
export xlm
timed "10,000 runs planned" "$xlm" sweep large.yaml --dry-run --runs planned
timed "10,000 runs planned and queued" bash -c queue
timed "10,000 runs that are queued, planned again" "$xlm" sweep large.yaml --launcher manual --runs queued
timed "500 runs queued, taken and done by one worker" bash -c take
