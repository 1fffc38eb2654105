#!/usr/bin/env bash
# lint.sh BUILD [FOLDER…]: clang-format on everything, clang-tidy on the sources of the folders. Versions: LLVM 14.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
shift
git ls-files '*.cpp' '*.h' | xargs clang-format-14 --dry-run --Werror
echo "clang-format: clean"
[ $# -gt 0 ] || exit 0
folders=$(IFS='|'; echo "$*")
find "$@" -name '*.cpp' | sort | xargs -P "$(nproc)" -n 4 clang-tidy-14 --quiet -p "$build" \
  --extra-arg=-Wno-unknown-warning-option --header-filter="^$PWD/($folders)/" --warnings-as-errors='*' 2>/dev/null
echo "clang-tidy: clean ($*)"
