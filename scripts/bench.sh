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

# rate LABEL TEXT ARGUMENTS…: prepares 200 MB of copies of TEXT, and prints MB/s. Of one thread the processor's time
# counts, which other work on the machine does not change much.
rate() {
  local label=$1 text=$2 work column=4
  shift 2
  work=$(mktemp -d)
  while [ "$(stat -c %s "$work/big.txt" 2>/dev/null || echo 0)" -lt 200000000 ]; do cat "$text" >>"$work/big.txt"; done
  if [[ " $* " == *" --threads 1 "* ]]; then column=1; fi
  if [ "$1" = gigatoken ]; then
    RAYON_NUM_THREADS=1 "$XLM_GIGATOKEN" -c "if True:
      import gigatoken, resource, sys
      tokenizer = gigatoken.Tokenizer(sys.argv[1])
      before = resource.getrusage(resource.RUSAGE_SELF)
      tokenizer.encode_files([sys.argv[2]])
      after = resource.getrusage(resource.RUSAGE_SELF)
      print(after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime)" "$2" "$work/big.txt" >"$work/time"
    column=1
  else
    /usr/bin/time -o "$work/time" -f '%U %S 0 %e' "$xlm" prepare-data text --from "$work/big.txt" --out "$work/out" --quiet "$@" >/dev/null
  fi
  awk -v bytes="$(stat -c %s "$work/big.txt")" -v column=$column -v label="$label" \
    '{printf "%-22s %4.0f MB/s\n", label, bytes / 1e6 / (column == 1 ? $1 + $2 : $4)}' "$work/time"
  rm -rf "$work"
}

if [ -e demo/headers.txt ] || scripts/demo_corpus.sh demo/headers.txt; then
  echo; echo "== data preparation of 200 MB (hashing, reading, cleaning, encoding, writing)"
  mix=$(mktemp)
  texts=${XLM_REAL_TEXTS:-../shared/data}
  cat "$texts"/gutenberg/*/*.txt "$texts"/wikitext/*.raw "$texts"/wikipedia-en/enwik8* "$texts"/wiki-fi/*.txt >"$mix" 2>/dev/null || cp demo/headers.txt "$mix"
  for threads in 1 2; do
    count="$threads thread$([ $threads = 1 ] || echo s)"
    rate "bytes, $count" "$mix" --unit byte --threads $threads
    rate "characters, $count" "$mix" --threads $threads
    rate "text8, $count" "$mix" --clean text8 --threads $threads
    if [ -e "$texts/gpt2/vocab.json" ]; then rate "byte pairs, $count" "$mix" --unit bpe --bpe "$texts/gpt2" --threads $threads; fi
  done
  # XLM_GIGATOKEN: a Python with gigatoken; XLM_GIGATOKEN_JSON: a tokenizer.json of the same encoding.
  if [ -n "${XLM_GIGATOKEN:-}" ]; then rate "gigatoken, 1 thread" "$mix" gigatoken "$XLM_GIGATOKEN_JSON"; fi
  rm "$mix"
  rate "en, 1 thread" demo/headers.txt --clean text8 --lang en --threads 1
  rate "en" demo/headers.txt --clean text8 --lang en
  for sample in fi:wiki-fi/fiwiki-sample.wiki40b-form.txt he:wiki-he/heq-wikipedia.wiki40b-form.txt \
    vi:wiki-vi/viwiki-sample.wiki40b-form.txt; do
    text=${XLM_REAL_TEXTS:-../shared/data}/${sample#*:}
    [ -e "$text" ] || continue
    rate "${sample%%:*}, 1 thread" "$text" --clean text8 --lang "${sample%%:*}" --threads 1
    rate "${sample%%:*}" "$text" --clean text8 --lang "${sample%%:*}"
  done

  # One copy of the text only: SentencePiece's time grows with the square of what a line repeats.
  echo; echo "== training a tokenizer of 5,000 pieces on the demo's text, one thread"
  work=$(mktemp -d)
  /usr/bin/time -f '%U s of processor time, %M kB' "$xlm" prepare-data text --clean text8 --from demo/headers.txt \
    --split 100%,0%,0% --out "$work/out" --quiet --train-unigram 5000 >/dev/null
  rm -rf "$work"
fi
