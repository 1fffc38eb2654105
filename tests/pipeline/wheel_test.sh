#!/usr/bin/env bash
# wheel_test.sh SOURCE BUILD READERS: the wheel of a build is installed in a new Python environment and trains there. Its
# module starts and reads runs. The wheel of the module alone reports numbers where there is no program.
# READERS is a folder of Python packages with setuptools (`make readers`); without it the test is skipped (exit code 77).
set -euo pipefail
source=$1
build=$2
readers=$3
[ -d "$readers/setuptools" ] || { echo "[readers] setuptools is not installed: make readers test-skipped"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# Copies only the files that a wheel needs, because setuptools writes next to them.
mkdir source
cp -r "$source"/{pyproject.toml,setup.py,README.md,CMakeLists.txt,CHANGELOG.md,CONTRIBUTING.md,LICENSE,docs,examples,scripts,python,experiments} source/
install() {  # install BUILD FOLDER
  PYTHONPATH=$readers XLM_BUILD=$1 python3 -m pip install --quiet --disable-pip-version-check --no-index --no-deps \
    --no-build-isolation --root-user-action=ignore --target "$2" ./source
}
install none alone
grep -q "^Tag: py3-none-any" alone/xlm-*.dist-info/WHEEL
[ "$(grep -c "^Requires-Dist" alone/xlm-*.dist-info/METADATA)" = 0 ]
[ ! -e alone/bin ]
[ -e alone/xlm/py.typed ]
cat >program.py <<'PYTHON'
import os
import xlm
run = xlm.run()
os.environ["PATH"] = ""  # there is no program
run.log(1, loss=run.options.loss)
try:
    xlm.Runs("runs").frame()
except xlm.Error as error:
    print(error)
PYTHON
XLM_METRICS=metrics.jsonl XLM_CONFIG='{"options": {"loss": 2.5}}' XLM_EXECUTABLE='' PYTHONPATH=alone python3 program.py |
  grep "the program xlm is neither in this package nor on PATH" >/dev/null  # to its end: -q would close the pipe
[ "$(cat metrics.jsonl)" = '{"step": 1, "loss": 2.5}' ]
rm -r source/build source/python/xlm.egg-info
install "$build" environment
grep -q "^Requires-Dist: torch==" environment/xlm-*.dist-info/METADATA
grep -q "^Tag: py3-none-linux_x86_64" environment/xlm-*.dist-info/WHEEL
[ -z "$(find environment -name 'libtorch*')" ] || { echo "the wheel holds a copy of libtorch"; exit 1; }
"$source/scripts/check_runpaths.sh" environment/xlm
ln -s "$(sed -n 's/^XLM_TORCH_DIR:[A-Z]*=//p' "$build/CMakeCache.txt")" environment/torch  # in place of the torch wheel
seq 1 20000 | sed 's/$/ bottles of beer on the wall/' >corpus.txt
export PYTHONPATH=$work/environment
xlm=environment/bin/xlm
$xlm --version
$xlm prepare-data text --from corpus.txt --out data >/dev/null
cat >run.yaml <<'YAML'
data: {path: data}
model: {type: adaptive-span, width: 16, heads: 2, feed_forward: 32, layers: 1, span: 32}
train: {steps: 5, batch: 4, block: 16}
device: cpu
YAML
$xlm train run.yaml | grep -q bpc
$xlm sweep run.yaml train.steps=6 --quiet >/dev/null
[ "$($xlm runs ls --format csv | wc -l)" = 3 ]
# The module uses the program of its wheel.
XLM_EXECUTABLE='' python3 - <<'PYTHON'
import os
import xlm
os.environ["PATH"] = ""
assert xlm.train("run.yaml", seed=2)["status"] == "done"
assert len(xlm.Runs("runs").frame(columns=["run_id", "test.bpc"])) == 3
PYTHON
echo "1 passed, 0 failed"
