#!/usr/bin/env bash
# make.sh XLM: makes data/ and runs/ of this folder by the program XLM of an earlier version. They are kept as that version wrote
# them, so this is for another version only, in another folder.
set -euo pipefail
cd "$(dirname "$0")"
xlm=$1
seq 1 400 | awk '{print "line " ($1 * $1) % 997 " of a text that says little and says it again"}' >corpus.txt
"$xlm" prepare-data text --from corpus.txt --out data/letters --keep-text
"$xlm" prepare-data text --from corpus.txt --unit byte --out data/bytes
for sweep in spans program; do "$xlm" sweep "$sweep.yaml"; done
for model in hourglass patches windows; do "$xlm" train "$model.yaml"; done
# One run is stopped after its first checkpoint.
"$xlm" train transformer.yaml & worker=$!
until compgen -G 'runs/transformer-*/checkpoints/step-*.safetensors' >/dev/null; do sleep 0.01; done
kill -TERM $worker
wait $worker || true
hourglass=$(basename runs/hourglass-*)
"$xlm" eval "$hourglass" eval.context=16
"$xlm" runs note "a note" "$hourglass"
"$xlm" runs tag kept "$hourglass"
"$xlm" runs mark --bad "a reason" "$(basename runs/byte-patches-*)"
rm -rf runs/.programs/*/bin runs/.programs/*/lib corpus.txt
