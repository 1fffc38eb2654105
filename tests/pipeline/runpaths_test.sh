#!/usr/bin/env bash
# runpaths_test.sh SOURCE BUILD: no program or library of a build loads libraries from the current folder, or from a
# folder that every user may write.
set -euo pipefail
check=$1/scripts/check_runpaths.sh
build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
places=()
for place in bin lib fake example/bin example/lib; do [ ! -d "$build/$place" ] || places+=("$build/$place"); done
"$check" "${places[@]}"

# The check finds such files.
cd "$work"
mkdir open closed
chmod 777 open
for path in '' ':' '$ORIGIN/../lib:' '/usr/lib::/lib' lib ./lib '$ORIGINAL' /tmp "$work/open" "$work/open/made/later" /tmp/nobody-has-this; do
  cp /bin/true program
  patchelf --force-rpath --set-rpath "$path" program
  [ -n "$path" ] || readelf -d program | grep -q PATH || continue  # newer versions of patchelf write none
  if "$check" program >said; then echo "[$path] was not noticed"; exit 1; fi
  grep -q "^program: " said
done
cp /bin/true program
patchelf --add-needed ./libevil.so program
if "$check" program >/dev/null; then echo "a library that is needed by a relative path was not noticed"; exit 1; fi
for path in '$ORIGIN' '$ORIGIN/../lib:/usr/lib' "$work/closed" /no/such/folder; do
  cp /bin/true program
  patchelf --set-rpath "$path" program
  "$check" program
done
if "$check" closed >/dev/null; then echo "a folder without programs passed"; exit 1; fi

# The current folder has broken files with the libraries' names. They must not be loaded.
mkdir planted
cd planted
find "${places[@]}" -type f \( -perm -u+x -o -name '*.so*' \) >../binaries
while read -r binary; do
  readelf -d "$binary" 2>/dev/null | sed -nE 's/^.*\(NEEDED\).*\[(.*)\]$/\1/p'
done <../binaries | sort -u >../needed
test -s ../needed
while read -r library; do echo "planted" >"$library"; done <../needed
while read -r binary; do
  if ldd "$binary" 2>&1 | grep -E "$work|=> [^/(]|file too short|invalid ELF"; then echo "$binary loads it"; exit 1; fi
done < <(grep -v '\.cmake$' ../binaries)
"$build/bin/xlm" --version >/dev/null
echo "1 passed, 0 failed"
