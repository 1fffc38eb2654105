#!/usr/bin/env bash
# release.sh BUILD OUT: makes what a release hands out in the new folder OUT/xlm-VERSION: the portable archive, the wheel with
# the program, the wheel of the module alone, the sources, NOTES (this version's part of CHANGELOG.md) and SHA256SUMS. All
# of it names the commit, so that the checkout must have no changes. Wheels are built by pip, which fetches setuptools.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1")
version=$(sed -nE 's/^project\(xlm VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
out=$2/xlm-$version
[ -z "$(git status --porcelain)" ] || { echo "release: the checkout has changes: commit or remove them" >&2; exit 1; }
[ ! -e "$out" ] || { echo "release: $out exists: remove it, or choose another folder" >&2; exit 1; }
notes=$(sed -n "/^## $version\b/,/^## /{/^## /d;p}" CHANGELOG.md)
[ -n "$notes" ] || { echo "release: CHANGELOG.md has no part '## $version'" >&2; exit 1; }
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

mkdir "$work/release"
scripts/portable.sh "$build" "$work" >/dev/null
mv "$work"/*.tar.zst "$work/release"
# setuptools writes next to the sources, so it gets a copy.
mkdir "$work/sources"
git archive HEAD | tar --extract --directory "$work/sources"
for kind in none "$build"; do
  XLM_BUILD=$kind python3 -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$work/release" "$work/sources"
  rm -rf "$work/sources/build"
done
git archive --format=tar.gz --prefix="xlm-$version/" --output "$work/release/xlm-$version.tar.gz" HEAD
printf '%s\n' "$notes" >"$work/release/NOTES"
(cd "$work/release" && sha256sum -- * >"$work/sums" && mv "$work/sums" SHA256SUMS)
mkdir -p "$2"
mv "$work/release" "$out"
(cd "$out" && du -h -- *)
