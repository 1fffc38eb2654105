#!/usr/bin/env bash
# Fuzzes everything that parses for XLM_FUZZ_SECONDS (default 5) each, with libFuzzer and the sanitizers; XLM_FUZZERS names
# some of them. Each begins with the inputs of tests/fuzz/corpus/NAME, which are kept, and those of earlier times here.
# XLM_FUZZ_RUNS: that many inputs of each instead, the same ones every time, from the kept inputs alone: `make asan` finds what a
# change broke, and `make fuzz` and `make soak` what luck finds. One allocation may be larger than what is held: Arrow asks for what a
# Parquet page says that it has, 2 GiB at most, and finds then that the file ends before.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${XLM_FUZZ_SECONDS:-5}
build=build/fuzz
if [ ! -e $build/build.ninja ]; then
  # -O1: twice as fast to compile, and the sanitizers take most of the time of an input either way.
  CC=clang-14 CXX=clang++-14 cmake -G Ninja -S . -B $build -DXLM_CORE=OFF -DXLM_FUZZ=ON -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_FLAGS_RELEASE='-O1 -DNDEBUG' -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=32 >/dev/null
fi
cmake --build $build --target fuzzers
for target in $build/bin/*_fuzz; do
  name=$(basename "$target")
  [[ " ${XLM_FUZZERS:-$name} " == *" $name "* ]] || continue
  if [ -n "${XLM_FUZZ_RUNS:-}" ]; then
    found=$(mktemp -d)
    extent=(-seed=1 -runs="$XLM_FUZZ_RUNS")
  else
    found=$build/corpus/$name
    mkdir -p "$found"
    extent=(-max_total_time="$seconds")
  fi
  printf '%s: ' "$name"
  "$target" "${extent[@]}" -max_len=4096 -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=4096 -print_final_stats=1 \
    "$found" "tests/fuzz/corpus/$name" >"$build/$name.log" 2>&1 || { tail -40 "$build/$name.log"; exit 1; }
  grep -oE 'number_of_executed_units: *[0-9]+' "$build/$name.log" | awk '{print $2 " inputs, no finding"}'
  [ -z "${XLM_FUZZ_RUNS:-}" ] || rm -r "$found"
done
