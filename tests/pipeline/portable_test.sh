#!/usr/bin/env bash
# portable_test.sh SOURCE BUILD: the portable folder needs nothing of a machine but its kernel: it sweeps, and writes pages of
# figures, in a root file system that holds nothing else, without root and network. Pictures need a Python, and without one
# the error says so. Without libtorch it takes that of an environment.
# Exit code 77 (skipped) where a user may make no namespaces.
set -euo pipefail
source=$1
build=$2
unshare --user --map-root-user --mount --pid --fork true 2>/dev/null || { echo "[namespaces] this system makes none for this user: sudo make test-skipped"; exit 77; }
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
export ARCHIVE=0
"$source/scripts/portable.sh" "$build" "$work/made" >/dev/null
root=$work/root
mkdir -p "$root"/{proc,dev,tmp,home,"opt/a place"}
mv "$work"/made/xlm-* "$root/opt/a place/xlm"
chmod -R a-w "$root/opt"  # as where a group shares it
(cd "$root/opt/a place/xlm" && sha256sum --check --quiet share/xlm/files.sha256)

# alone COMMAND…: in a root that has only the folder, /proc, two devices and an empty home.
alone() {
  unshare --user --map-root-user --mount --pid --net --fork bash -c '
    set -e
    mount -t proc proc "$0/proc"
    for device in null urandom; do touch "$0/dev/$device"; mount --bind "/dev/$device" "$0/dev/$device"; done
    exec env -i PATH=/usr/sbin:/usr/bin HOME=/home LC_ALL=tr_TR.UTF-8 chroot "$0" "$@"' "$root" "$@"
}
xlm="/opt/a place/xlm/bin/xlm"
seq 1 20000 | sed 's/$/ bottles of beer on the wall/' >"$root/home/corpus.txt"
cat >"$root/home/run.yaml" <<'YAML'
data: {path: /home/data}
model: {type: adaptive-span, width: 16, heads: 2, feed_forward: 32, layers: 1, span: 32}
train: {steps: 5, batch: 4, block: 16, threads: 1}
sweep: {grid: {model.layers: [1, 2]}}
tables: [{table: T, rows: model.layers, columns: [{value: test.bpc}]}]
figures: [{figure: F, x: model.layers, y: test.bpc}]
device: cpu
YAML
alone "$xlm" prepare-data text --from /home/corpus.txt --out /home/data >/dev/null
alone "$xlm" sweep /home/run.yaml --runs /home/runs --jobs 2 --quiet | grep "2 of 2 runs done" >/dev/null
[ ! -e "$root/home/runs/.programs" ] || { echo "the program was copied"; exit 1; }
alone "$xlm" figure /home/run.yaml --runs /home/runs --format html --out /home/pictures
grep -q "model.layers" "$root/home/pictures/f.html"
{ alone "$xlm" figure /home/run.yaml --runs /home/runs --format pdf --out /home/pictures 2>&1 || true; } | grep "pip install matplotlib" >/dev/null
[ ! -e "$root/home/pictures/f.pdf" ] || { echo "a picture without a Python?"; exit 1; }
alone "$xlm" report /home/run.yaml --runs /home/runs --out /home/report.html
# What the runs record is the program, not the loader that started it.
for file in "$root"/home/runs/*/environment.json; do
  python3 - "$file" "$(sha256sum <"$root/opt/a place/xlm/libexec/xlm" | cut -d' ' -f1)" <<'PYTHON'
import json, sys
environment = json.load(open(sys.argv[1]))
assert environment["executable_sha256"] == sys.argv[2], environment["executable_sha256"]
assert environment["command"][:2] == ["/opt/a place/xlm/bin/xlm", "worker"], environment["command"]
PYTHON
done
# The numbers are those of the build.
"$build/bin/xlm" sweep "$root/home/run.yaml" data.path="$root/home/data" --runs "$work/runs" --quiet >/dev/null
values() { "$build/bin/xlm" runs ls --runs "$1" --columns model.layers,test.loss,valid.loss --sort model.layers --format csv | cut -d, -f2-; }
[ "$(values "$work/runs" | wc -l)" = 3 ]
diff <(values "$work/runs") <(values "$root/home/runs")

# What it needs of the machine for downloads is said where it is missing.
{ alone "$xlm" prepare-data text8 --download --out /home/text8 2>&1 || true; } | grep "apt-get install curl" >/dev/null

# An image is the folder at /opt/xlm of its base, which here is empty.
if [ "$(id -u)" = 0 ] && command -v buildah >/dev/null; then
  printf '[storage]\ndriver = "vfs"\ngraphroot = "%s"\nrunroot = "%s"\n' "$work/images" "$work/images.run" >"$work/storage.conf"
  CONTAINERS_STORAGE_CONF=$work/storage.conf BUILDER=buildah BASE=scratch \
    "$source/scripts/image.sh" "$root/opt/a place/xlm" >/dev/null 2>&1
  mkdir "$work/image" "$work/image.root"
  tar --extract --file "$root/opt/a place/xlm.image.tar" --directory "$work/image"
  for layer in $(sed 's/.*"Layers":\["\([^]]*\)"\].*/\1/; s/","/ /g' "$work/image/manifest.json"); do
    tar --extract --file "$work/image/$layer" --directory "$work/image.root"
  done
  diff -r "$root/opt/a place/xlm" "$work/image.root/opt/xlm"
  [ "$(ls "$work/image.root")" = opt ]
  grep -q '"PATH=/opt/xlm/bin:' "$work"/image/*.json
fi

# Without libtorch inside.
"$source/scripts/portable.sh" "$build" "$work/made" 0 >/dev/null
small=$(echo "$work"/made/*-without-libtorch/bin/xlm)
unset XLM_LIBTORCH VIRTUAL_ENV CONDA_PREFIX
cd "$root/home"
again=(train run.yaml data.path=data seed=3 --runs none)
if "$small" "${again[@]}" 2>"$work/error.txt"; then echo "trained without libtorch?"; exit 1; fi
grep -q "no active environment has torch" "$work/error.txt"
torch=$(sed -n 's/^XLM_TORCH_DIR:[A-Z]*=//p' "$build/CMakeCache.txt")
packages=$work/environment/lib/python3.11/site-packages
mkdir -p "$packages"
ln -s "$torch" "$packages/torch"
VIRTUAL_ENV=$work/environment "$small" "${again[@]}" 2>/dev/null | grep bpc >/dev/null
rm "$packages/torch"
mkdir -p "$packages/torch/lib"
ln -s "$torch"/lib/* "$packages/torch/lib/"
echo "__version__ = '2.5.1+cpu'" >"$packages/torch/version.py"
if VIRTUAL_ENV=$work/environment "$small" "${again[@]}" seed=4 2>"$work/error.txt"; then echo "another torch?"; exit 1; fi
grep -q "is of torch 2.5.1, and this program needs torch" "$work/error.txt"
echo "1 passed, 0 failed"
