#!/usr/bin/env bash
# Fuzzes everything that parses, with libFuzzer and the sanitizers.
#   XLM_FUZZ_SECONDS  the time of each target (default 5)
#   XLM_FUZZERS       the targets (default all)
#   XLM_FUZZ_RUNS     instead of a time: so many inputs of each target, the same ones every time
# A target begins with the inputs in tests/fuzz/corpus/NAME. Without XLM_FUZZ_RUNS it also uses inputs that it found
# earlier. `make asan` uses fixed inputs and finds what a change broke. `make fuzz` and `make soak` search by chance.
# The allocation limit is above the memory limit, because Arrow allocates up to 2 GiB, the size that a Parquet page
# claims, before it finds that the file is shorter.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${XLM_FUZZ_SECONDS:-5}
build=build/asan
cmake --preset asan >/dev/null
cmake --build $build --target fuzzers
# fuzz TARGET
fuzz() {
  local name found extent
  name=$(basename "$1")
  if [ -n "${XLM_FUZZ_RUNS:-}" ]; then
    found=$(mktemp -d)
    extent=(-seed=1 -runs="$XLM_FUZZ_RUNS")
  else
    found=$build/corpus/$name
    mkdir -p "$found"
    extent=(-max_total_time="$seconds")
  fi
  "$1" "${extent[@]}" -max_len=4096 -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=4096 -print_final_stats=1 \
    "$found" "tests/fuzz/corpus/$name" >"$build/$name.log" 2>&1 || { echo "$name: failed"; tail -40 "$build/$name.log"; return 1; }
  echo "$name: $(grep -oE 'number_of_executed_units: *[0-9]+' "$build/$name.log" | awk '{print $2}') inputs, no finding"
  [ -z "${XLM_FUZZ_RUNS:-}" ] || rm -r "$found"
}
export -f fuzz
export build seconds
for target in $build/bin/*_fuzz; do
  name=$(basename "$target")
  if [[ " ${XLM_FUZZERS:-$name} " == *" $name "* ]]; then echo "$target"; fi
done | xargs -d '\n' -P "$(nproc)" -I {} bash -c 'set -euo pipefail; fuzz "$1"' fuzz {}
