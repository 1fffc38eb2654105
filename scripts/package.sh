#!/usr/bin/env bash
# package.sh BUILD OUT: a relocatable folder with the program and every shared library that it needs besides libtorch's.
# It runs wherever the same torch wheel is: libtorch is found where it was at build time, or where XLM_LIBTORCH says.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
out=$2
rm -rf "$out"
cmake --install "$build" --prefix "$out" --strip >/dev/null
# Libraries of the C and C++ runtime and the kernel's are every machine's own; libtorch comes with its wheel.
keep_out='^(ld-linux|libc\.so|libm\.so|libdl\.so|libpthread\.so|librt\.so|libgcc_s|libstdc\+\+|libtorch|libc10|libgomp|libcudart|libcupti|linux-vdso)'
for binary in "$out/bin/xlm" "$out"/lib/libxlm_*.so; do
  ldd "$binary" | awk '$3 ~ /^\// {print $1, $3}' | while read -r name path; do
    [[ $name =~ $keep_out ]] || cp -nL "$path" "$out/lib/$name"
  done
done
for library in "$out"/lib/*.so*; do
  # A library's own needs are found beside it.
  [ "$(basename "$library")" = libxlm_core.so ] || patchelf --set-rpath '$ORIGIN' "$library"
done
du -sh "$out" | cut -f1 | xargs printf '%s: %s\n' "$out"
