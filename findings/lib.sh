# shellcheck shell=bash
# Sourced by every script of this folder: a temporary folder, pinned packages in it, and a comparison of what is seen
# with what was seen when the script was written.

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/input"

# install NAME==VERSION…: installs from PyPI into the temporary folder, and prints the versions that are there now. What
# these need has the versions of versions.txt.
install() {
  local package python=$folder/python/bin/python
  cp "$(dirname "${BASH_SOURCE[0]}")/versions.txt" "$folder/versions.txt"
  for package in "$@"; do sed -i "/^${package%%==*}==/d" "$folder/versions.txt"; done
  python3 -m venv --without-pip "$folder/python"
  python3 -m pip --python "$python" install --quiet --disable-pip-version-check --no-compile \
    --constraint "$folder/versions.txt" "$@"
  "$python" - "$@" <<'PYTHON'
import importlib.metadata, sys
names = [word.split("==")[0] for word in sys.argv[1:] if "==" in word]
print("versions:", ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names))
PYTHON
}

# observe: runs the Python program on standard input, in the folder for input, and shows what it prints.
observe() {
  echo "seen:"
  (cd "$folder/input" && "$folder/python/bin/python" -I -W ignore -) >"$folder/seen" || {
    echo "$(basename "$0"): the program failed, so the behaviour has changed" >&2
    exit 1
  }
  sed 's/^/  /' "$folder/seen"
}

# expect: ends with 1 if the program has printed anything but the text on standard input.
expect() {
  cat >"$folder/expected"
  if cmp -s "$folder/expected" "$folder/seen"; then
    echo "as expected: the surprise is still there"
  else
    echo "$(basename "$0"): the behaviour has changed. Expected:" >&2
    sed 's/^/  /' "$folder/expected" >&2
    exit 1
  fi
}
