#!/usr/bin/env bash
# setup.sh [COMMAND…]: installs what the build needs: Debian packages, and libtorch, plotly.js and Arrow from their Python
# wheels into .deps/. libtorch is by far the largest. While it is fetched, COMMAND runs, after all others are there.
#   CUDA=0|1   take the small CPU set, or the CUDA libraries too (default: as before; the first time 1 if a driver of a
#              GPU is loaded)
#   TOOLS=1    also the tools for checks and fuzzing (`make tools`): LLVM 14, which Debian 13 no longer has
#   EXTRAS=1   also a browser and LaTeX, for the tests that need them (`make test-all`)
#   DISASSEMBLER=1  also NVIDIA's disassembler for the machine code of GPU kernels (`make null-cuda`)
#   READERS=1  also the Python packages with which some tests read our files, and pytest (`make readers`)
set -euo pipefail
cd "$(dirname "$0")/.."

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

torch_version=2.11.0
plotly_version=6.5.0
pyarrow_version=26.0.1
crt_version=13.0.88
cccl_version=13.0.85
nvdisasm_version=13.5.37
readers=(tensorboard==2.21.0 pandas==3.1.1 transformers==5.23.0 sympy networkx jinja2  # the last three: torch's own
  pytest==9.0.2 mypy==2.4.1 nbclient==0.11.0 ipykernel==7.4.0 matplotlib==3.11.2
  optuna==5.0.0 cmaes==0.13.1)
trainers=(accelerate==1.15.0 lightning==2.6.6 lightning-utilities==0.15.3 torchmetrics==1.9.0)  # would bring a second torch
packages=(
  ca-certificates ccache cmake g++ git gnuplot-nox make ninja-build patchelf pkg-config python3 python3-pip time zip zstd
  libarchive-dev libbenchmark-dev libboost-math-dev libcli11-dev libcurl4-openssl-dev libfmt-dev libgmock-dev
  libgtest-dev libicu-dev libmuparser-dev libnlopt-dev libre2-dev libsentencepiece-dev libsimdjson-dev libspdlog-dev libsqlite3-dev libsqlitecpp-dev libssl-dev
  libyaml-cpp-dev nlohmann-json3-dev zlib1g-dev
)
if [ "${TOOLS:-0}" = 1 ]; then packages+=(clang-14 clang-format-14 clang-tidy-14 libclang-rt-14-dev lld); fi
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
  echo "setup: installing ${#missing[@]} Debian packages" >&2
  "${sudo[@]}" apt-get update -qq
  if [ "${TOOLS:-0}" = 1 ] && ! apt-cache show clang-14 >/dev/null 2>&1; then
    echo "setup: this distribution has no LLVM 14, which checks the sources; Debian 12 and Ubuntu 24.04 have it" >&2
    exit 1
  fi
  DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi

if [ -z "${CUDA:-}" ]; then
  CUDA=0
  if [ -e ".deps/torch-$torch_version-cuda0" ]; then
    CUDA=0
  elif [ -e ".deps/torch-$torch_version-cuda1" ]; then
    CUDA=1
  elif [ -e /proc/driver/nvidia/version ]; then CUDA=1; fi
fi
pip=(python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-compile --target)

take_torch() {
  echo "setup: fetching libtorch $torch_version $([ "$CUDA" = 1 ] && echo 'with CUDA, 3 GB' || echo 'for CPUs, 1 GB')" >&2
  if [ "$CUDA" = 1 ]; then
    "${pip[@]}" .deps/python "torch==$torch_version"
  else  # of CUDA, libtorch_cpu.so links against only these two
    "${pip[@]}" .deps/python --no-deps "torch==$torch_version" nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85
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

# Headers that CUDA's headers include and libtorch's wheels lack. Without them a build would need an installed toolkit.
take_headers() {
  local stamp=.deps/cuda-headers-$crt_version-$cccl_version
  [ ! -e "$stamp" ] || return 0
  rm -rf .deps/cuda-headers*
  "${pip[@]}" .deps/cuda-headers --no-deps "nvidia-cuda-crt==$crt_version" "nvidia-cuda-cccl==$cccl_version"
  touch "$stamp"
}

take_disassembler() {
  local stamp=.deps/nvdisasm-$nvdisasm_version
  [ "${DISASSEMBLER:-0}" = 1 ] && [ ! -e "$stamp" ] || return 0
  rm -rf .deps/nvdisasm*
  "${pip[@]}" .deps/nvdisasm --no-deps "nvidia-cuda-nvdisasm==$nvdisasm_version"
  chmod +x .deps/nvdisasm/nvidia/cu13/bin/nvdisasm
  touch "$stamp"
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

fresh=0
if [ ! -e ".deps/torch-$torch_version-cuda$CUDA" ]; then
  fresh=1
  rm -rf .deps/python .deps/torch-* .deps/plotly-* .deps/pyarrow-*
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
fetch take_headers
fetch take_folder pyarrow "$pyarrow_version"  # has Arrow's C++ libraries and headers; tests write Parquet with its Python
fetch take_disassembler
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
