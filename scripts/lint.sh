#!/usr/bin/env bash
# lint.sh [FOLDER…]: plain English, clang-format on everything, clang-tidy on the sources of the folders. Versions: LLVM 14.
#
# clang-tidy spends its time in library headers. So it reads the files of a unity build: several sources, with their headers
# once. These files include sources, so bugprone-suspicious-include is off. The largest files come first, so that all cores
# end together. Precompiled headers are off, because they hide missing includes.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/plain_english.py
git ls-files '*.cpp' '*.h' '*.cuh' | xargs clang-format-14 --dry-run --Werror
echo "clang-format: clean"
[ $# -gt 0 ] || exit 0

build=build/lint  # configured, never built
cmake --preset dev -B $build -DCMAKE_UNITY_BUILD_BATCH_SIZE=32 -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null
folders="^(#include \")?$PWD/($(IFS='|'; echo "$*"))/"
units() {  # the sources of the folders, and the unity files that include some
  local unit
  sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' $build/compile_commands.json | sort -u | while read -r unit; do
    case $unit in */Unity/*) grep -qE "$folders" "$unit" && echo "$unit" ;; *) [[ $unit =~ $folders ]] && echo "$unit" ;; esac
  done || true
}
bytes() { { echo "$1"; sed -n 's/^#include "\(\/.*\)"$/\1/p' "$1"; } | xargs -d '\n' cat | wc -c; }  # of a unit and its sources
largest_first() { while read -r unit; do echo "$(bytes "$unit") $unit"; done | sort -rn | cut -d' ' -f2-; }
units | largest_first | xargs -d '\n' -P "$(nproc)" -n 1 clang-tidy-14 --quiet -p $build --checks=-bugprone-suspicious-include \
  --extra-arg=-Wno-unknown-warning-option --header-filter="${folders/(#include \")?/}" --warnings-as-errors='*' 2>/dev/null
echo "clang-tidy: clean ($*)"
