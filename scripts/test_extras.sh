#!/usr/bin/env bash
# test_extras.sh BUILD: the tests that are skipped on a plain machine for want of a browser or of LaTeX. Installs both, and
# fails where one of them is skipped all the same.
set -euo pipefail
cd "$(dirname "$0")/.."
packages=(chromium texlive-latex-base texlive-latex-recommended)
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
if ((${#missing[@]})); then
  if [ "$(id -u)" = 0 ]; then sudo=(); elif sudo -n true 2>/dev/null; then sudo=(sudo); else
    echo "test-all: these Debian packages are missing and this user may not install them:" >&2
    echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  "${sudo[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
ctest --test-dir "$1" -R '^results\.(Browser|LatexTables)\.' --output-on-failure --no-tests=error | tee "$log"
if grep -q Skipped "$log"; then
  echo "test-all: a test was skipped that has what it needs" >&2
  exit 1
fi
