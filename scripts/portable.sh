#!/usr/bin/env bash
# portable.sh BUILD OUT [LIBTORCH]: makes the folder OUT/xlm-VERSION-COMMIT-x86_64 and an archive of it. It runs on any
# x86-64 Linux, however old, without root: the program, every library that it needs, and the loader and C library by
# which bin/xlm starts them (cmd/portable). No path in it is absolute. libtorch is in it, for CPUs, unless
# LIBTORCH is 0: then the program takes that of the torch wheel in the active Python environment. The hashes of its files
# are in share/xlm/files.sha256. ARCHIVE=0 in the environment makes the folder alone.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
libtorch=${3:-1}
name=$("$build/bin/xlm" --version | sed -nE '1s/^xlm (.*) \((.*)\)$/xlm-\1-\2-x86_64/p')
[ "$libtorch" = 1 ] || name+=-without-libtorch
out=$2/$name
scripts/package.sh "$build" "$out" wheel >/dev/null
mkdir -p "$out/libexec" "$out/lib/glibc"
mv "$out/bin/xlm" "$out/libexec/xlm"
cp "$build/bin/launcher" "$out/bin/xlm"

# What a program needs, as NAME PATH; of the kernel's own there is no path.
needed_by() { ldd "$1" | sed -n 's/^[[:space:]]*\([^ ]*\) => \(\/.*\) (0x[0-9a-f]*)$/\1 \2/p'; }
is_of_torch='^(libtorch|libc10|libgomp|libcudart|libcupti)'
is_of_glibc='^(libc|libm|libmvec|libdl|libpthread|librt|libresolv|libutil|libanl|libnss_.*)\.so\.'
torch=$(sed -n 's/^XLM_TORCH_DIR:[A-Z]*=//p' "$build/CMakeCache.txt")/lib
for binary in "$out"/libexec/* "$build"/lib/libxlm_*.so "$torch/libtorch_cpu.so"; do needed_by "$binary"; done | sort -u |
  while read -r name path; do
    if [[ $name =~ $is_of_glibc ]]; then
      cp -nL "$path" "$out/lib/glibc/$name"
    elif [[ ! $name =~ $is_of_torch ]] || { [ "$libtorch" = 1 ] && [[ $name != libtorch_cuda* ]]; }; then
      cp -nL "$path" "$out/lib/$name"
    fi
  done
c_library=$(dirname "$(needed_by "$out/libexec/xlm" | sed -n 's/^libc\.so\.6 //p')")
cp -L "$c_library/ld-linux-x86-64.so.2" "$out/lib/glibc/"
# What the C library opens itself, or programs open by name.
for library in libdl.so.2 libpthread.so.0 librt.so.1 libresolv.so.2 libutil.so.1 libnss_files.so.2 libnss_dns.so.2; do
  cp -nL "$c_library/$library" "$out/lib/glibc/"
done
if [ "$libtorch" = 1 ]; then cp "$torch/libtorch_cpu.so" "$out/lib/"; fi

chmod -R u+w,a+rX "$out"
strip --strip-unneeded "$out"/libexec/* "$out"/lib/*.so*  # of libtorch a fifth
for library in "$out"/lib/*.so*; do patchelf --set-rpath '$ORIGIN' "$library"; done
for program in "$out"/libexec/*; do patchelf --set-rpath '$ORIGIN/../lib' "$program"; done
scripts/check_runpaths.sh "$out"

# With libtorch inside it is all that an image needs (scripts/image.sh).
if [ "$libtorch" = 1 ]; then cp scripts/portable.Dockerfile "$out/Dockerfile"; fi
# Whose work it holds: of Debian's packages and of wheels.
licences=$out/share/doc/xlm/licences
mkdir -p "$licences"
mapfile -t held < <(find "$out/lib" -name '*.so*' -printf '*/%f\n')
# A library that comes from a wheel is in no package.
packages=$( (dpkg-query -S "${held[@]}" 2>/dev/null || true) | sed -nE "s/(:amd64)?: .*x86_64-linux-gnu.*//p" | sort -u)
for package in $packages; do
  [ ! -e "/usr/share/doc/$package/copyright" ] || cp -L "/usr/share/doc/$package/copyright" "$licences/$package"
done
for wheel in "$torch"/../../*.dist-info; do
  find "$wheel" -iname 'LICENSE*' -type f -exec cp {} "$licences/$(basename "${wheel%%-*}")" \; -quit
done

(cd "$out" && find . -type f ! -path ./share/xlm/files.sha256 -print0 | sort -z | xargs -0 sha256sum >share/xlm/files.sha256)
made=("$out")
if [ "${ARCHIVE:-1}" = 1 ]; then
  tar --create --directory "$2" --sort=name --owner=0 --group=0 --numeric-owner "$name" |
    zstd -q -f -12 -T0 -o "$out.tar.zst"
  made+=("$out.tar.zst")
fi
du -sh "${made[@]}" | while read -r size path; do echo "$path: $size"; done
