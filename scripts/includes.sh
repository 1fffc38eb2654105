#!/usr/bin/env bash
# includes.sh FOLDER…: compiles every source of the folders alone, without a precompiled header. All builds compile several
# files as one, so only this shows whether each file includes what it uses.
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/includes  # configured, never built
cmake --preset dev -B $build -DCMAKE_UNITY_BUILD=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null
python3 -c '
import json, os, re, sys
for unit in json.load(open(sys.argv[1])):
    if any(unit["file"].startswith(os.path.abspath(folder) + "/") for folder in sys.argv[2:]):
        print(re.sub(r" -o \S+ -c ", " -fsyntax-only ", unit["command"]))
' $build/compile_commands.json "$@" | sort -u | CCACHE_DISABLE=1 xargs -d '\n' -P "$(nproc)" -n 1 sh -c
echo "every file compiles alone ($*)"
