#!/usr/bin/env bash
# run.sh SOURCE READERS EXECUTABLE FAKE TEST…: tests of the Python module, by pytest of READERS (`make readers`); without it
# they are skipped (exit code 77). EXECUTABLE is the program, FAKE the same with a core that needs no torch.
set -euo pipefail
source=$1
readers=$2
export XLM_EXECUTABLE=$3
export XLM_TEST_FAKE=$4
shift 4
[ -d "$readers/pytest" ] || { echo "[readers] pytest is not installed: make readers test-skipped"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work HF_HUB_OFFLINE=1 PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH=$source/python:$readers:$source/.deps/python${PYTHONPATH:+:$PYTHONPATH}
tests=("${@/#/$source/tests/python/}")
cd "$work"
python3 -m pytest -q -rs -p no:cacheprovider --rootdir "$source/tests/python" --basetemp "$work/pytest" "${tests[@]}"
