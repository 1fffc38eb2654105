#!/usr/bin/env bash
# package_test.sh SOURCE BUILD: the packaged folder works from another place and finds libtorch only by XLM_LIBTORCH.
set -euo pipefail
source=$1
build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$source/scripts/package.sh" "$build" "$work/here"
mv "$work/here" "$work/there"
cd "$work"
seq 1 20000 | sed 's/$/ bottles of beer on the wall/' >corpus.txt
there/bin/xlm prepare-data text --from corpus.txt --out data >/dev/null
cat >run.yaml <<'YAML'
data: {path: data}
model: {type: adaptive-span, width: 16, heads: 2, feed_forward: 32, layers: 1, span: 32}
train: {steps: 5, batch: 4, block: 16}
device: cpu
YAML
# libtorch is not where the package expects it, so it must come from XLM_LIBTORCH.
torch=$(sed -n 's/^XLM_TORCH_DIR:[A-Z]*=//p' "$build/CMakeCache.txt")/lib
patchelf --set-rpath '$ORIGIN' there/lib/libxlm_core.so
if there/bin/xlm train run.yaml --runs none 2>error.txt; then echo "trained without libtorch?"; exit 1; fi
grep -q XLM_LIBTORCH error.txt
XLM_LIBTORCH=$torch there/bin/xlm train run.yaml | grep -q bpc
# A sweep pins the program: it must still find its libraries from where it was copied to.
XLM_LIBTORCH=$torch there/bin/xlm sweep run.yaml train.steps=6 --quiet >/dev/null
# gpu-check comes in a separate folder, which is small enough to be sent to another machine.
"$source/scripts/package.sh" "$build" "$work/here" check
mv "$work/here" "$work/check"
for binary in check/libexec/gpu_check check/lib/libxlm_core.so; do patchelf --set-rpath '$ORIGIN/../lib' "$binary"; done
if check/bin/gpu-check windows 2>error.txt; then echo "checked without libtorch?"; exit 1; fi
grep -q libtorch_cpu error.txt
XLM_LIBTORCH=$torch check/bin/gpu-check --device cpu --size least --threads 1 --out checked windows resuming >/dev/null
grep -q '| passed |' checked/gpu-check.md
test "$(du -sm check | cut -f1)" -le 64
for missing in $(ldd there/bin/xlm there/lib/libxlm_core.so | awk '/not found/ {print $1}'); do
  case $missing in libtorch* | libc10*) ;; *) echo "missing: $missing"; exit 1 ;; esac
done
echo "1 passed, 0 failed"
