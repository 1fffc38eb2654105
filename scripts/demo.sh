#!/usr/bin/env bash
# demo.sh XLM [TEXT]: makes the table, the Pareto front, the figures and the report of one recipe from raw text, in demo/.
# Without TEXT the corpus is the English in libtorch's headers. TEXT is text8 as it is distributed, or a part of it.
set -euo pipefail
cd "$(dirname "$0")/.."
xlm=$1
text=${2:-}
recipe=experiments/recipes/adaptive-span/span-limit.yaml
start=$(date +%s)
# say COMMAND…: prints the command, its output and its time.
say() {
  local begin
  begin=$(date +%s)
  printf '\n$ %s\n' "$*"
  "$@"
  printf '(%d s)\n' $(($(date +%s) - begin))
}

mkdir -p demo
if [ -n "$text" ]; then
  data=demo/data/$(basename "$text" | tr -c 'a-zA-Z0-9\n' '-')
  say "$xlm" prepare-data text8 --from "$text" --out "$data"
else
  data=demo/data/headers
  [ -e demo/headers.txt ] || scripts/demo_corpus.sh demo/headers.txt
  say "$xlm" prepare-data text --clean text8 --from demo/headers.txt --out "$data"
fi
say "$xlm" sweep "$recipe" --profile smoke "data.path=$data" --runs demo/runs
say "$xlm" table "$recipe" --profile smoke --runs demo/runs --name span-limit
say "$xlm" pareto --runs demo/runs --x flops_per_token --y test.bpc
say "$xlm" figure "$recipe" --profile smoke --runs demo/runs --format html --out demo/figures
say "$xlm" report "$recipe" --profile smoke --runs demo/runs --out demo/report.html
printf '\ndone in %d s; runs are in demo/runs, figures in demo/figures, the report is demo/report.html\n' $(($(date +%s) - start))
printf '\nTry next, on these runs (docs/demo.md):\n'
printf '  %s\n' "$xlm runs ls --runs demo/runs --sort test.bpc" "$xlm runs cost --runs demo/runs" \
  "$xlm figure $recipe --profile smoke --runs demo/runs --format pdf --out demo/figures" "$xlm runs watch --runs demo/runs --serve"
