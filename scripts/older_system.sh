#!/usr/bin/env bash
# older_system.sh ARCHIVE ROOT: tries an archive of `make portable` on an older system, whose root file system is in ROOT:
# by a user without rights, from a folder that is read-only, without a network. Prepares data, sweeps, and makes a table,
# pictures and a report. Needs bubblewrap. An old root file system is made from a distribution's packages:
#   mmdebstrap --variant=minbase bullseye ROOT http://deb.debian.org/debian
set -euo pipefail
archive=$(realpath "$1")
root=$(realpath "$2")
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
mkdir -p "$work/a place" "$work/home"
begin=$(date +%s)
tar --extract --file "$archive" --directory "$work/a place" --strip-components 1
echo "unpacked in $(($(date +%s) - begin)) s: $(du -sh "$work/a place" | cut -f1)"
chmod -R a-w "$work/a place"
seq 1 20000 | sed 's/$/ bottles of beer on the wall/' >"$work/home/corpus.txt"
cat >"$work/home/run.yaml" <<'YAML'
data: {path: data}
model: {type: adaptive-span, width: 32, heads: 2, feed_forward: 64, layers: 1, span: 32}
train: {steps: 100, batch: 4, block: 32}
sweep: {grid: {model.layers: [1, 2], seed: [1, 2]}}
tables: [{table: Layers, rows: model.layers, columns: [{value: test.bpc}]}]
figures: [{figure: Layers, x: model.layers, y: test.bpc}]
device: cpu
YAML
begin=$(date +%s)
bwrap --unshare-all --uid 1000 --gid 1000 --ro-bind "$root" / --tmpfs /opt --ro-bind "$work/a place" "/opt/a place" \
  --proc /proc --dev /dev --bind "$work/home" /home --tmpfs /tmp --chdir /home --clearenv --setenv HOME /home \
  --setenv PATH "/opt/a place/bin:/usr/bin:/bin" sh -ec '
    ldd --version | head -n 1
    xlm --version
    xlm prepare-data text --from corpus.txt --out data >prepared.txt
    xlm sweep run.yaml --jobs 2 --quiet
    xlm table run.yaml
    xlm figure run.yaml --format html --out pictures
    xlm report run.yaml --out report.html'
echo "done in $(($(date +%s) - begin)) s"
