#!/usr/bin/env bash
# package.sh BUILD OUT [check|wheel]: makes a relocatable folder with the program and the shared libraries that it needs,
# except libtorch's. The package runs on machines with the same torch wheel. It finds libtorch where it was at build time,
# or in XLM_LIBTORCH. With `check` the folder only holds bin/gpu-check and what that needs, within 64 MiB. With `wheel`
# it does not hold that command, whose program need not be built.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
out=$2
part=${3:-}
rm -rf "$out"
cmake --install "$build" --prefix "$out" --strip >/dev/null
programs=("$out/bin/xlm")
if [ "$part" != wheel ]; then
  cmake --install "$build" --prefix "$out" --strip --component check >/dev/null  # libexec/gpu_check, for bin/gpu-check
  cp scripts/gpu_check.sh "$out/bin/gpu-check"
  programs+=("$out/libexec/gpu_check")
fi
# Every machine has its own C and C++ runtime and its kernel's libraries. libtorch comes with its wheel.
keep_out='^(ld-linux|libc\.so|libm\.so|libdl\.so|libpthread\.so|librt\.so|libgcc_s|libstdc\+\+|libtorch|libc10|libgomp|libcudart|libcupti|linux-vdso)'
for binary in "${programs[@]}" "$out"/lib/libxlm_*.so; do
  ldd "$binary" | sed -n 's/^[[:space:]]*\([^ ]*\) => \(\/.*\) (0x[0-9a-f]*)$/\1 \2/p' | while read -r name path; do
    [[ $name =~ $keep_out ]] || cp -nL "$path" "$out/lib/$name"
  done
done
for library in "$out"/lib/*.so*; do
  # A library finds the libraries that it needs in its own folder.
  [ "$(basename "$library")" = libxlm_core.so ] || patchelf --set-rpath '$ORIGIN' "$library"
done
if [ "$part" = check ]; then
  needed=$(ldd "$out/libexec/gpu_check" "$out/lib/libxlm_cuda.so" | awk '{print $1}')
  for library in "$out"/lib/*; do
    name=$(basename "$library")
    [ "$name" = libxlm_cuda.so ] || grep -qxF "$name" <<<"$needed" || rm "$library"
  done
  rm -r "$out/bin/xlm" "$out/share"
  scripts/check_runpaths.sh "$out"
  du -sh "$out" | cut -f1 | xargs printf '%s: %s\n' "$out"
  exit
fi
scripts/check_runpaths.sh "$out"
# The program writes its completions. The docs are copied.
share=$out/share
mkdir -p "$share/bash-completion/completions" "$share/zsh/site-functions" \
  "$share/fish/vendor_completions.d" "$share/doc/xlm"
"$out/bin/xlm" completion bash >"$share/bash-completion/completions/xlm"
"$out/bin/xlm" completion zsh >"$share/zsh/site-functions/_xlm"
"$out/bin/xlm" completion fish >"$share/fish/vendor_completions.d/xlm.fish"
cp -r README.md CHANGELOG.md CONTRIBUTING.md LICENSE docs examples "$share/doc/xlm/"
du -sh "$out" | cut -f1 | xargs printf '%s: %s\n' "$out"
