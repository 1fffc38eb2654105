#!/usr/bin/env bash
# Installs what the build needs: Debian packages, and libtorch, plotly.js and Arrow from their Python wheels into .deps/.
#   CUDA=0|1   take the small CPU set, or the CUDA libraries too (default: what was taken before; the first time 1 where a
#              driver or toolkit is present)
#   EXTRAS=1   also a browser and LaTeX, for the tests that need them (`make test-all`)
#   READERS=1  also what some tests read our files with, in Python (`make readers`)
set -euo pipefail
cd "$(dirname "$0")/.."

# What the presets need; an older distribution is told before anything is installed.
needed_cmake=3.25
cmake=$(cmake --version 2>/dev/null | sed -n '1s/.* //p' || true)
cmake=${cmake:-$(apt-cache policy cmake 2>/dev/null | sed -n 's/ *Candidate: \([0-9]\)/\1/p' || true)}
if [ -n "$cmake" ] && ! printf '%s\n' "$needed_cmake" "$cmake" | sort -VC; then
  echo "setup: CMake $cmake is older than $needed_cmake (Ubuntu 22.04: pip install --upgrade pip cmake)" >&2
  exit 1
fi

torch_version=2.11.0
plotly_version=6.5.0
pyarrow_version=26.0.1
readers=(tensorboard==2.21.0 pandas==3.1.1 transformers==5.23.0 sympy networkx jinja2)  # the last three: torch's own
packages=(
  ca-certificates ccache clang-14 clang-format-14 clang-tidy-14 cmake g++ git gnuplot-nox libclang-rt-14-dev make
  ninja-build patchelf pkg-config python3 python3-pip time zip zstd
  libarchive-dev libbenchmark-dev libboost-math-dev libcli11-dev libcurl4-openssl-dev libfmt-dev libgmock-dev
  libgloo-dev libgtest-dev libicu-dev libmuparser-dev libsentencepiece-dev libsimdjson-dev libspdlog-dev libsqlite3-dev libsqlitecpp-dev libssl-dev
  libyaml-cpp-dev nlohmann-json3-dev zlib1g-dev
)
if [ "${EXTRAS:-0}" = 1 ]; then packages+=(chromium texlive-latex-base texlive-latex-recommended); fi

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
if ((${#missing[@]})); then
  if [ "$(id -u)" = 0 ]; then sudo=(); elif sudo -n true 2>/dev/null; then sudo=(sudo); else
    echo "setup: these Debian packages are missing and this user may not install them:" >&2
    echo "  apt-get install ${missing[*]}" >&2
    exit 1
  fi
  "${sudo[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi

if [ -z "${CUDA:-}" ]; then
  CUDA=0
  if [ -e ".deps/torch-$torch_version-cuda0" ]; then
    CUDA=0
  elif [ -e ".deps/torch-$torch_version-cuda1" ]; then
    CUDA=1
  elif command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] || [ -e /proc/driver/nvidia/version ]; then CUDA=1; fi
fi
stamp=".deps/torch-$torch_version-cuda$CUDA"
pip=(python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-compile --target)
if [ ! -e "$stamp" ]; then
  rm -rf .deps/python .deps/torch-* .deps/plotly-* .deps/pyarrow-*
  mkdir -p .deps
  if [ "$CUDA" = 1 ]; then
    "${pip[@]}" .deps/python "torch==$torch_version"
  else  # libtorch_cpu.so is linked against these two, and needs nothing else of CUDA
    "${pip[@]}" .deps/python --no-deps "torch==$torch_version" nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85
  fi
  touch "$stamp"
fi

# The wheel carries plotly.min.js, which the program has inside; nothing of its Python is used.
stamp=".deps/plotly-$plotly_version"
if [ ! -e "$stamp" ]; then
  rm -rf .deps/plotly-* .deps/python/plotly
  mkdir -p .deps/python
  "${pip[@]}" .deps/plotly-wheel --no-deps "plotly==$plotly_version"
  mv .deps/plotly-wheel/plotly .deps/python/plotly
  rm -rf .deps/plotly-wheel
  touch "$stamp"
fi

# The wheel carries Arrow's C++ libraries and headers, which read Parquet; tests write Parquet files with its Python.
stamp=".deps/pyarrow-$pyarrow_version"
if [ ! -e "$stamp" ]; then
  rm -rf .deps/pyarrow-* .deps/python/pyarrow
  mkdir -p .deps/python
  "${pip[@]}" .deps/pyarrow-wheel --no-deps "pyarrow==$pyarrow_version"
  mv .deps/pyarrow-wheel/pyarrow .deps/python/pyarrow
  rm -rf .deps/pyarrow-wheel
  touch "$stamp"
fi

# TensorBoard, pandas and transformers, by which tests read what is written for them.
stamp=".deps/readers/.installed-$(printf '%s\n' "${readers[@]}" | sha256sum | cut -c1-12)"
if [ "${READERS:-0}" = 1 ] && [ ! -e "$stamp" ]; then
  rm -rf .deps/readers
  "${pip[@]}" .deps/readers "${readers[@]}"
  touch "$stamp"
fi
