#!/usr/bin/env bash
# lint.sh [FOLDER…]: clang-format on everything, clang-tidy on the sources of the folders. Versions: LLVM 14.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files '*.cpp' '*.h' | xargs clang-format-14 --dry-run --Werror
echo "clang-format: clean"
[ $# -gt 0 ] || exit 0
build=build/dev  # configured, not built: it compiles file by file, as clang-tidy reads them
[ -e $build/build.ninja ] || cmake --preset dev >/dev/null
folders=$(IFS='|'; echo "$*")
find "$@" -name '*.cpp' | sort | xargs -P "$(nproc)" -n 4 clang-tidy-14 --quiet -p $build \
  --extra-arg=-Wno-unknown-warning-option --header-filter="^$PWD/($folders)/" --warnings-as-errors='*' 2>/dev/null
echo "clang-tidy: clean ($*)"
