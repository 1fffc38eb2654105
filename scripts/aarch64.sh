#!/usr/bin/env bash
# aarch64.sh ROOT [CTEST OPTION…]: compiles everything that needs no torch for aarch64 (preset aarch64), and runs its tests
# with qemu-user. ROOT becomes a Debian 12 for aarch64 (2 GB). The build links against its libraries, and the tests run
# in it. Needs root, and Debian 12 for the cross compiler.
set -euo pipefail
cd "$(dirname "$0")/.."
XLM_AARCH64_ROOT=$(realpath -ms "${1:?a folder for the Debian of aarch64}")
export XLM_AARCH64_ROOT
shift
eval "$(sed -n '/^packages=(/,/^)/p; /^pyarrow_version=/p' scripts/setup.sh)"

apt-get install -y -qq --no-install-recommends g++-aarch64-linux-gnu mmdebstrap qemu-user-static >/dev/null
# Tells the kernel that qemu runs such programs, if that is not done yet, as in a container.
formats=/proc/sys/fs/binfmt_misc
[ -e $formats/register ] || mount -t binfmt_misc binfmt_misc $formats
[ -e $formats/qemu-aarch64 ] || cat /usr/lib/binfmt.d/qemu-aarch64.conf >$formats/register

if [ ! -e "$XLM_AARCH64_ROOT/usr/include/zlib.h" ]; then
  mmdebstrap --arch=arm64 --variant=minbase --include="${packages[*]}" bookworm "$XLM_AARCH64_ROOT"
fi
if [ ! -e .deps/aarch64/pyarrow ]; then
  python3 -m pip install --quiet --no-compile --target .deps/aarch64 --no-deps --only-binary=:all: --python-version 3.11 \
    --platform manylinux_2_28_aarch64 "pyarrow==$pyarrow_version"
fi
cmake --preset aarch64
cmake --build --preset aarch64

# The same folders under the same names, except Arrow's.
here=$XLM_AARCH64_ROOT$PWD
mkdir -p "$here"
export here
exec unshare --mount bash -euc '
  mount --bind . "$here"
  mount --bind .deps/aarch64/pyarrow "$here/.deps/python/pyarrow"
  mount -t proc proc "$XLM_AARCH64_ROOT/proc"
  mount --rbind /dev "$XLM_AARCH64_ROOT/dev"
  exec env HOME=/root chroot "$XLM_AARCH64_ROOT" ctest --test-dir "$PWD/build/aarch64" --no-tests=error "$@"' -- "$@"
