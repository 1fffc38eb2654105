#!/usr/bin/env bash
# bench.sh BUILD: measures training steps against the arithmetic limit, start-up, the results store and data preparation.
# Also writes its output to BUILD/bench.txt, which `make bench-compare OTHER=FILE` compares with another such file.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
xlm=$build/bin/xlm
if [ -z "${BENCH_KEPT:-}" ]; then
  BENCH_KEPT=1 bash scripts/bench.sh "$build" | tee "$build/bench.txt"
  exit
fi
"$xlm" --version
echo "$(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $("$xlm" --version --verbose | sed -n 's/^ *cpu_products *//p') products"
echo
export GOMP_SPINCOUNT=${GOMP_SPINCOUNT:-10000}  # as in the program (experiments/worker/core_library.cpp)
echo "== training steps (bench/step_time.cpp)"
"$build/bin/step_time"
"$build/bin/step_time" --precision bfloat16

echo; echo "== updates of the weights (bench/optimizer_time.cpp)"
"$build/bin/optimizer_time"

echo; echo "== start-up of what needs no libtorch, median of 20"
few=$(mktemp -d)
start_up() {
  for _ in $(seq 20); do
    s=$(date +%s%N)
    "$xlm" "$@" >/dev/null 2>&1 || { echo "bench: xlm $* has failed" >&2; exit 1; }
    e=$(date +%s%N); echo $(((e - s) / 1000))
  done | sort -n | sed -n 10p | awk -v words="xlm ${*//"$few/"/}" '{printf "%-78s %6.1f ms\n", words, $1 / 1000}'
}
start_up --help
start_up --version
start_up help train
start_up completion bash
recipe=experiments/recipes/adaptive-span/span-limit.yaml
start_up sweep $recipe --profile smoke --check
"$build/bin/run_folders" "$few/runs" 3
start_up runs sync --runs "$few/runs"
start_up runs ls --runs "$few/runs"
start_up runs show "$(basename "$(find "$few/runs" -mindepth 1 -maxdepth 1 -type d ! -name '.*' | head -1)")" --runs "$few/runs"
start_up runs sql 'select count(*) from runs' --runs "$few/runs"
start_up pareto --x flops_per_token --y test.bpc --runs "$few/runs"
start_up report $recipe --profile smoke --runs "$few/runs" --out "$few/report.html"
printf 'a text of few words\n' >"$few/text.txt"
start_up prepare-data text --from "$few/text.txt" --out "$few/data"
rm -rf "$few"
ldd "$xlm" | grep -c -E 'torch|c10' | awk '{print ($1 ? "links libtorch" : "libtorch is not linked")}' || true

echo
scripts/bench_store.sh "$build"

# rate LABEL TEXT ARGUMENTS…: prepares 200 MB of copies of TEXT, and prints MB/s.
rate() {
  local label=$1 text=$2 work
  shift 2
  work=$(mktemp -d)
  while [ "$(stat -c %s "$work/big.txt" 2>/dev/null || echo 0)" -lt 200000000 ]; do cat "$text" >>"$work/big.txt"; done
  s=$(date +%s%N)
  "$xlm" prepare-data text --clean text8 --from "$work/big.txt" --out "$work/out" --quiet "$@" >/dev/null
  e=$(date +%s%N)
  stat -c %s "$work/big.txt" | awk -v ns=$((e - s)) -v label="$label" '{printf "%-22s %4.0f MB/s\n", label, $1 / 1e6 / (ns / 1e9)}'
  rm -rf "$work"
}

if [ -e demo/headers.txt ] || scripts/demo_corpus.sh demo/headers.txt; then
  echo; echo "== data preparation of 200 MB (hashing, reading, cleaning, encoding, writing)"
  rate "text8" demo/headers.txt
  rate "en, 1 thread" demo/headers.txt --lang en --threads 1
  rate "en" demo/headers.txt --lang en
  for sample in fi:wiki-fi/fiwiki-sample.wiki40b-form.txt he:wiki-he/heq-wikipedia.wiki40b-form.txt \
    vi:wiki-vi/viwiki-sample.wiki40b-form.txt; do
    text=${XLM_REAL_TEXTS:-../shared/data}/${sample#*:}
    [ -e "$text" ] || continue
    rate "${sample%%:*}, 1 thread" "$text" --lang "${sample%%:*}" --threads 1
    rate "${sample%%:*}" "$text" --lang "${sample%%:*}"
  done

  # One copy of the text only: SentencePiece's time grows with the square of what a line repeats.
  echo; echo "== training a tokenizer of 5,000 pieces on the demo's text, one thread"
  work=$(mktemp -d)
  /usr/bin/time -f '%U s of processor time, %M kB' "$xlm" prepare-data text --clean text8 --from demo/headers.txt \
    --split 100%,0%,0% --out "$work/out" --quiet --train-unigram 5000 >/dev/null
  rm -rf "$work"
fi
