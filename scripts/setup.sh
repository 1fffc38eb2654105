#!/usr/bin/env bash
# setup.sh [COMMAND…]: installs what the build needs: Debian packages, and libtorch, plotly.js and Arrow from their Python
# wheels into .deps/. libtorch is by far the largest. While it is fetched, COMMAND runs, after all others are there.
#   CUDA=0|1   take the small CPU set, or the CUDA libraries too (default: as before; the first time 1 if a driver of a
#              GPU is loaded)
#   TORCH=V    take this version of libtorch from now on, 2.11.0 or newer; TORCH=pinned goes back to the one below
#   TOOLS=1    also the tools for checks and fuzzing (`make tools`): LLVM 14, which Debian 13 no longer has
#   EXTRAS=1   also a browser and LaTeX, for the tests that need them (`make test-all`)
#   TRACKERS=1 also wandb, mlflow and trackio, whose runs some tests import (`make trackers`)
#   READERS=1  also the Python packages with which some tests read our files, and pytest (`make readers`)
#   XLM_PREFIX=FOLDER  take libraries and tools from this folder, of conda-forge or spack, in place of Debian's packages
set -euo pipefail
cd "$(dirname "$0")/.."
prefix=${XLM_PREFIX:-}
[ -z "$prefix" ] || PATH=$prefix/bin:$PATH

# The version that the presets need. This fails before anything is installed.
needed_cmake=3.25
cmake=$(cmake --version 2>/dev/null | sed -n '1s/.* //p' || true)
cmake=${cmake:-$(apt-cache policy cmake 2>/dev/null | sed -n 's/ *Candidate: \([0-9]\)/\1/p' || true)}
if [ -n "$cmake" ] && ! printf '%s\n' "$needed_cmake" "$cmake" | sort -VC; then
  echo "setup: CMake $cmake is older than $needed_cmake (Ubuntu 22.04: pip install --upgrade pip cmake)" >&2
  exit 1
fi

# Two setups at once, as by make -j, would remove each other's files. The lock is on the folder itself, because a user who
# may only read it, as after another user's setup, has nothing to install. Without file locks, setup continues unlocked.
mkdir -p .deps
exec 9<.deps
flock 9 2>/dev/null || true

pinned_torch=2.11.0
case ${TORCH:-} in
  "") ;;
  pinned) rm -f .deps/wanted-torch ;;
  *)
    if ! [[ $TORCH =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || ! printf '%s\n' 2.11.0 "$TORCH" | sort -VC; then
      echo "setup: TORCH=$TORCH: give a version from 2.11.0 on, such as $pinned_torch, or pinned" >&2
      exit 1
    fi
    echo "$TORCH" >.deps/wanted-torch
    ;;
esac
torch_version=$(cat .deps/wanted-torch 2>/dev/null || echo "$pinned_torch")
plotly_version=6.5.0
pyarrow_version=26.0.1
readers=(tensorboard==2.21.0 pandas==3.1.1 transformers==5.23.0 sympy networkx jinja2  # the last three: torch's own
  pytest==9.0.2 mypy==2.4.1 nbclient==0.11.0 ipykernel==7.4.0 matplotlib==3.11.2
  optuna==5.0.0 cmaes==0.13.1)
trackers=(wandb==0.31.0 mlflow-skinny==3.17.2 sqlalchemy alembic sqlparse trackio==0.43.0)
trainers=(accelerate==1.15.0 lightning==2.6.6 lightning-utilities==0.15.3 torchmetrics==1.9.0)  # would bring a second torch
# What the build needs: the packages of Debian, of conda-forge and of spack, and the file by which a prefix has it. A program
# may be elsewhere on PATH.
needs=(
  "ca-certificates       -                -                -"
  "ccache                -                -                -"
  "cmake                 cmake            cmake            bin/cmake"
  "curl                  curl             curl             bin/curl"
  "g++                   gxx=13           gcc@13           bin/g++"
  "git                   git              git              bin/git"
  "make                  make             gmake            bin/make"
  "ninja-build           ninja            ninja            bin/ninja"
  "patchelf              patchelf         patchelf         bin/patchelf"
  "pkg-config            pkg-config       pkgconf          bin/pkg-config"
  "python3               python           python           bin/python3"
  "python3-pip           pip              py-pip           bin/pip3"
  "time                  -                -                -"
  "zip                   zip              zip              bin/zip"
  "zstd                  zstd             zstd             bin/zstd"
  "libarchive-dev        libarchive       libarchive       include/archive.h"
  "libbenchmark-dev      benchmark        benchmark        include/benchmark/benchmark.h"
  "libboost-math-dev     libboost-devel   boost            include/boost/math/distributions.hpp"
  "libcli11-dev          cli11            cli11            include/CLI/CLI.hpp"
  "libfmt-dev            fmt=10           fmt@10           include/fmt/format.h"
  "libgmock-dev          gmock            googletest+gmock include/gmock/gmock.h"
  "libgtest-dev          gtest            googletest+gmock include/gtest/gtest.h"
  "libicu-dev            icu              icu4c            include/unicode/uchar.h"
  "libmuparser-dev       muparser         muparser         include/muParser.h"
  "libnlopt-dev          nlopt            nlopt            include/nlopt.h"
  "libre2-dev            re2              re2              include/re2/re2.h"
  "libsentencepiece-dev  libsentencepiece sentencepiece    include/sentencepiece_processor.h"
  "libsimdjson-dev       simdjson         simdjson         include/simdjson.h"
  "libspdlog-dev         spdlog           spdlog           include/spdlog/spdlog.h"
  "libsqlite3-dev        sqlite           sqlite           include/sqlite3.h"
  "libsqlitecpp-dev      sqlitecpp        -                include/SQLiteCpp/SQLiteCpp.h"
  "libssl-dev            openssl          openssl          include/openssl/ssl.h"
  "libzstd-dev           zstd             zstd             include/zstd.h"
  "libyaml-cpp-dev       yaml-cpp         yaml-cpp         include/yaml-cpp/yaml.h"
  "nlohmann-json3-dev    nlohmann_json    nlohmann-json    include/nlohmann/json.hpp"
  "zlib1g-dev            zlib             zlib             include/zlib.h"
)
further=()
if [ "${TOOLS:-0}" = 1 ]; then further+=(clang-14 clang-format-14 clang-tidy-14 libclang-rt-14-dev lld); fi
if [ "${EXTRAS:-0}" = 1 ]; then further+=(chromium texlive-latex-base texlive-latex-recommended); fi

# Prints how a user without root gets what the build needs, from the conda-forge and spack packages of NEED….
say_without_root() {
  local place=${prefix:-$HOME/xlm-libraries} conda=() spack=() debian conda_package spack_package file from_source=0
  while read -r debian conda_package spack_package file; do
    [ "$conda_package" = - ] || conda+=("$conda_package")
    [ "$spack_package" = - ] || spack+=("$spack_package")
    case $debian in libsqlitecpp-dev) from_source=1 ;; esac
  done < <(printf '%s\n' "$@")
  mapfile -t spack < <(printf '%s\n' "${spack[@]}" | uniq)
  echo "from conda-forge:"
  echo "  micromamba $([ -d "$place/conda-meta" ] && echo install || echo create) --yes --prefix $place --channel conda-forge ${conda[*]}"
  echo "or from spack:"
  echo "  spack install ${spack[*]}"
  echo "  spack view --dependencies yes symlink $place ${spack[*]}"
  if [ $from_source = 1 ]; then
    echo "  git clone --branch 3.3.3 https://github.com/SRombauts/SQLiteCpp  # which spack does not have"
    echo "  cmake -S SQLiteCpp -B SQLiteCpp/build -DSQLITECPP_INTERNAL_SQLITE=OFF -DCMAKE_PREFIX_PATH=$place -DCMAKE_INSTALL_PREFIX=$place"
    echo "  cmake --build SQLiteCpp/build --target install"
  fi
  echo "and then:"
  echo "  make build XLM_PREFIX=$place"
  echo "The portable archive needs none of it (docs/install.md)."
}

# check_prefix: fails if the prefix lacks something, which it names once.
check_prefix() {
  local lacks=() need debian conda_package spack_package file
  for need in "${needs[@]}"; do
    read -r debian conda_package spack_package file <<<"$need"
    case $file in
      -) ;;
      bin/*) command -v "${file#bin/}" >/dev/null || lacks+=("$need") ;;
      *) [ -e "$prefix/$file" ] || lacks+=("$need") ;;
    esac
  done
  if ((${#further[@]})); then
    echo "setup: make tools and make test-all take their programs from Debian: run them without XLM_PREFIX" >&2
    exit 1
  fi
  [ ${#lacks[@]} = 0 ] || {
    echo "setup: $prefix lacks, by the names of conda-forge: $(printf '%s\n' "${lacks[@]}" | awk '{print $2}' | paste -sd ' ')" >&2
    say_without_root "${lacks[@]}" >&2
    exit 1
  }
}

# Installs Debian's packages, or says what would.
check_packages() {
  local packages=() missing=() sudo=() install=() package size log
  mapfile -t packages < <(printf '%s\n' "${needs[@]}" | cut -d' ' -f1)
  for package in "${packages[@]}" "${further[@]}"; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if ! command -v apt-get >/dev/null; then
    echo "setup: this system has no apt-get. All that the build needs can come from a folder of yours, without root," >&2
    say_without_root "${needs[@]}" >&2
    exit 1
  fi
  if [ "$(id -u)" = 0 ]; then :; elif sudo -n true 2>/dev/null; then sudo=(sudo); else
    echo "setup: these Debian packages are missing and this user may not install them:" >&2
    echo "  apt-get install ${missing[*]}" >&2
    echo "Without root, all that the build needs can come from a folder of yours," >&2
    say_without_root "${needs[@]}" >&2
    exit 1
  fi
  "${sudo[@]}" apt-get update -qq
  if [ "${TOOLS:-0}" = 1 ] && ! apt-cache show clang-14 >/dev/null 2>&1; then
    echo "setup: this distribution has no LLVM 14, which checks the sources; Debian 12 and Ubuntu 24.04 have it" >&2
    exit 1
  fi
  install=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get install --no-install-recommends "${missing[@]}")
  size=$("${install[@]}" --assume-no 2>/dev/null | sed -n 's/^Need to get \(.*\) of archives.*/\1/p' || true)
  echo "setup: installing ${#missing[@]} Debian packages${size:+; with what they need $size to fetch}" >&2
  log=$(mktemp)
  "${install[@]}" -y -qq >"$log" 2>&1 || { tail -n 30 "$log" >&2; echo "setup: apt-get failed; all it said: $log" >&2; exit 1; }
  rm "$log"
}

if [ -n "$prefix" ]; then check_prefix; else check_packages; fi

case ${CUDA:-} in
  "" | 0 | 1) ;;
  *)
    echo "setup: CUDA=$CUDA: give 0 or 1" >&2
    exit 1
    ;;
esac
if [ -z "${CUDA:-}" ]; then
  CUDA=0
  if [ -e ".deps/torch-$torch_version-cuda0" ]; then
    CUDA=0
  elif [ -e ".deps/torch-$torch_version-cuda1" ]; then
    CUDA=1
  elif [ -e /proc/driver/nvidia/version ]; then CUDA=1; fi
fi
pip=(python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-compile --target)

# take_cuda FOLDER PART,…: installs parts of the CUDA toolkit that the wheel of torch names, into FOLDER.
take_cuda() {
  local toolkit
  toolkit=$(sed -n 's/^Requires-Dist: cuda-toolkit[^=]*==\([0-9.]*\).*/\1/p' ".deps/python/torch-$torch_version.dist-info/METADATA")
  "${pip[@]}" "$1" "cuda-toolkit[$2]==$toolkit"
}

take_torch() {
  if [ $adds_cuda = 1 ]; then  # what the wheel asks for besides, as the CPU set has the wheel itself
    local others
    mapfile -t others < <(sed -n 's/^Requires-Dist: \([^;]*\)\(; platform_system == "Linux".*\)\{0,1\}$/\1/p' \
      ".deps/python/torch-$torch_version.dist-info/METADATA")
    "${pip[@]}" .deps/python --upgrade "${others[@]}"
  elif [ "$CUDA" = 1 ]; then
    "${pip[@]}" .deps/python "torch==$torch_version"
  else  # of CUDA, libtorch_cpu.so links against only these two
    "${pip[@]}" .deps/python --no-deps "torch==$torch_version"
    take_cuda .deps/python cudart,cupti
  fi
  # Headers that CUDA's headers include and libtorch's wheels lack. Without them a build would need an installed toolkit.
  # The CPU set has them already, and what is compiled meanwhile reads them.
  if [ $adds_cuda = 0 ]; then
    rm -rf .deps/cuda-headers*
    take_cuda .deps/cuda-headers crt,cccl
  fi
  touch ".deps/torch-$torch_version-cuda$CUDA"
}

# take_folder NAME VERSION: installs the folder NAME of the wheel NAME.
take_folder() {
  [ ! -e ".deps/$1-$2" ] || return 0
  rm -rf ".deps/$1-"* ".deps/python/$1"
  mkdir -p .deps/python
  "${pip[@]}" ".deps/$1-wheel" --no-deps "$1==$2"
  mv ".deps/$1-wheel/$1" ".deps/python/$1"
  rm -rf ".deps/$1-wheel"
  touch ".deps/$1-$2"
}

take_readers() {
  local stamp
  stamp=.deps/readers/.installed-$(printf '%s\n' "${readers[@]}" "${trainers[@]}" | sha256sum | cut -c1-12)
  [ "${READERS:-0}" = 1 ] && [ ! -e "$stamp" ] || return 0
  rm -rf .deps/readers
  "${pip[@]}" .deps/readers "${readers[@]}"
  "${pip[@]}" .deps/readers --no-deps "${trainers[@]}"
  touch "$stamp"
}

take_trackers() {
  local stamp
  stamp=.deps/trackers/.installed-$(printf '%s\n' "${trackers[@]}" | sha256sum | cut -c1-12)
  [ "${TRACKERS:-0}" = 1 ] && [ ! -e "$stamp" ] || return 0
  rm -rf .deps/trackers
  "${pip[@]}" .deps/trackers "${trackers[@]}"
  touch "$stamp"
}

fresh=0
adds_cuda=0
if [ ! -e ".deps/torch-$torch_version-cuda$CUDA" ]; then
  fresh=1
  # Elsewhere: docs/install.md, where these numbers are measured.
  if [ -e ".deps/torch-$torch_version-cuda0" ]; then
    adds_cuda=1
    echo "setup: fetching 2180 MB: the CUDA libraries for libtorch $torch_version, which take 3.4 GB in .deps" >&2
  elif [ "$CUDA" = 1 ]; then
    echo "setup: fetching 2790 MB: libtorch $torch_version with CUDA, plotly.js and Arrow, which take 4.8 GB in .deps (elsewhere: 163 s)" >&2
  else
    echo "setup: fetching 610 MB: libtorch $torch_version for CPUs, plotly.js and Arrow, which take 1.4 GB in .deps (elsewhere: 19 s)" >&2
  fi
  [ $adds_cuda = 1 ] || rm -rf .deps/python .deps/plotly-* .deps/pyarrow-*
  rm -rf .deps/torch-*
fi
# All at once. Each is a separate process group, which the trap kills if setup exits early.
wheels=()
trap 'for wheel in "${wheels[@]}"; do kill -- "-$wheel" 2>/dev/null || true; done' EXIT
fetch() {
  set -m
  "$@" &
  wheels+=($!)
  set +m
}
fetch take_folder plotly "$plotly_version"    # has plotly.min.js, which the program contains; its Python is not used
fetch take_folder pyarrow "$pyarrow_version"  # has Arrow's C++ libraries and headers; tests write Parquet with its Python
fetch take_trackers                           # wandb, mlflow, trackio, whose runs some tests import
fetch take_readers                            # TensorBoard, pandas, transformers and pytest, with which tests read our files
others=("${wheels[@]}")
[ $fresh = 0 ] || fetch take_torch
for wheel in "${others[@]}"; do wait "$wheel"; done
if [ $fresh = 1 ]; then
  status=0
  [ $# = 0 ] || "$@" || status=$?
  wait "${wheels[-1]}"
  exit $status
fi
