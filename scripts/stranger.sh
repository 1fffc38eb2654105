#!/usr/bin/env bash
# stranger.sh PLACE [USER]: clones this checkout into "PLACE/a clone/xlm" and runs README's two commands there, letter for letter, in
# a root file system that holds a minimal Debian with make and git, and nothing else. The first runs as root, who may install
# packages, the second as USER, who has no home folder. PLACE is a new folder. Later steps can use what was built: the clone has
# the same path outside. Root only. Where no such root file system can be made, it says so and runs the commands in the clone.
set -euo pipefail
checkout=$(cd "$(dirname "$0")/.." && pwd)
place=$(realpath "$1")
user=${2:-xlm-tests}
root=$place/root
clone="$place/a clone/xlm"

id -u "$user" >/dev/null 2>&1 || useradd --system --no-create-home "$user"
mkdir -p "$place/a clone"
chmod 755 "$place"
git clone --quiet "$checkout" "$clone"
# The first block below "Two commands" of README, without its comments.
mapfile -t commands < <(cd "$clone" && sed -n '/^## Two commands/,${/^make /{s/ *#.*//;p};/^```$/{x;s/^/x/;/xx/q;x}}' README.md)
[ ${#commands[@]} = 2 ] || { echo "stranger: README has ${#commands[@]} commands instead of two" >&2; exit 1; }

# make_root: a minimal Debian, and what the packages' and Python's servers are reached by on this machine.
make_root() {
  command -v mmdebstrap >/dev/null || { apt-get update -qq && apt-get install -y -qq mmdebstrap >/dev/null; } || return 1
  unshare --mount --pid --fork true || return 1
  local release part sources=()
  [ ! -e /etc/apt/sources.list.d/debian.sources ] || sources=(/etc/apt/sources.list.d/debian.sources)
  release=$(. /etc/os-release && echo "$VERSION_CODENAME")
  mmdebstrap --quiet --mode=root --variant=minbase --include=make,git --dpkgopt=force-unsafe-io --skip=cleanup/apt/lists \
    "$release" "$root" "${sources[@]}" || return 1
  for part in /etc/resolv.conf /etc/hosts /etc/pip.conf /usr/local/share/ca-certificates /etc/ssl/certs/ca-certificates.crt; do
    [ -e "$part" ] || continue
    mkdir -p "$root$(dirname "$part")"
    cp -rL "$part" "$root$(dirname "$part")"
  done
  useradd --root "$root" --system --no-create-home --uid "$(id -u "$user")" "$user"
}

# in_root COMMAND…: runs it in the clone, in separate namespaces of mounts and processes.
in_root() {
  root=$root place=$place clone=$clone unshare --mount --pid --fork --kill-child bash -euo pipefail -c '
    mount --bind "$root" "$root"
    mkdir -p "$root$place" "$root/.outside"
    mount --bind "$place" "$root$place"
    mount --rbind /dev "$root/dev"
    mount --rbind /sys "$root/sys"
    mount -t proc proc "$root/proc"
    cd "$root"
    pivot_root . .outside
    cd "$clone"
    umount --lazy /.outside
    exec env --ignore-environment PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"' bash "$@"
}
in_clone() { (cd "$clone" && env -u HOME "$@"); }

run=in_root
if ! make_root; then
  echo "stranger: no root file system can be made here; the commands run in the clone, where they may find more than a stranger has"
  run=in_clone
fi
begin=$SECONDS
echo "stranger: ${commands[0]}"
$run HOME=/root WERROR="${WERROR:-}" bash -c "${commands[0]}"
echo "stranger: ${commands[0]} took $((SECONDS - begin)) s"
chown -R "$user" "$clone"
begin=$SECONDS
echo "stranger: ${commands[1]}"
$run TZ=Pacific/Chatham http_proxy=http://127.0.0.1:9 WERROR="${WERROR:-}" runuser -u "$user" -- bash -c "${commands[1]}"
echo "stranger: ${commands[1]} took $((SECONDS - begin)) s"
