#!/usr/bin/env bash
# begin_build.sh PRESET [CMAKE OPTION…]: compiles what needs no libtorch, while that is still being fetched (setup.sh).
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
cmake --preset "$preset" -DXLM_CORE=OFF "$@" >/dev/null
cmake --build --preset "$preset" --target xlm_cmd
