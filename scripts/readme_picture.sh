#!/usr/bin/env bash
# readme_picture.sh XLM [WIDTH HEIGHT OUT]: README's four commands, and docs/report.png: their report in Chromium, its table left of its figure.
set -euo pipefail
cd "$(dirname "$0")/.."
xlm=$(realpath "$1")
out=$(realpath "${4:-docs/report.png}")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cp -r LICENSE examples "$place"
cd "$place"
for command in sweep table claims "report --out report.html"; do
  # shellcheck disable=SC2086 # a command and its option
  "$xlm" $command examples/own/sweep.yaml
done
sed -i 's|</head>|<style>#exhibit-1-1 {float: left; width: 280px} #exhibit-1-2 {margin-left: 300px} .modebar {display: none} .plot {height: 330px}</style></head>|' \
  report.html
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size="${2:-1000},${3:-968}" \
  --virtual-time-budget=10000 --screenshot="$place/report.png" "file://$place/report.html" >/dev/null 2>&1
cp report.png "$out"
