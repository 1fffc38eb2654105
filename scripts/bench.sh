#!/usr/bin/env bash
# bench.sh BUILD: training steps beside the arithmetic limit, data preparation, and start-up.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
xlm=$build/bin/xlm
export GOMP_SPINCOUNT=${GOMP_SPINCOUNT:-10000}  # as in the program (experiments/core_library.cpp)
echo "== training steps (bench/step_time.cpp)"
"$build/bin/step_time"
"$build/bin/step_time" --precision bfloat16

echo; echo "== start-up: xlm --help, median of 20"
for _ in $(seq 20); do
  s=$(date +%s%N); "$xlm" --help >/dev/null; e=$(date +%s%N); echo $(((e - s) / 1000))
done | sort -n | sed -n 10p | awk '{printf "%.1f ms\n", $1 / 1000}'
ldd "$xlm" | grep -c -E 'torch|c10' | awk '{print ($1 ? "links libtorch" : "libtorch is not linked")}' || true

if [ -e demo/headers.txt ] || scripts/demo_corpus.sh demo/headers.txt; then
  echo; echo "== data preparation: text8 cleaning of 200 MB of English"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  while [ "$(stat -c %s "$work/big.txt" 2>/dev/null || echo 0)" -lt 200000000 ]; do cat demo/headers.txt >>"$work/big.txt"; done
  s=$(date +%s%N)
  "$xlm" prepare-data text --clean text8 --from "$work/big.txt" --out "$work/out" --quiet >/dev/null
  e=$(date +%s%N)
  stat -c %s "$work/big.txt" | awk -v ns=$((e - s)) '{printf "%.0f MB/s (reading, cleaning, two passes, hashing, writing)\n", $1 / 1e6 / (ns / 1e9)}'
fi
