# A façade over the CMake presets. `make help` lists what there is.
PRESET ?= release
BUILD := build/$(PRESET)
# Warnings are errors for those who work on the program (presets dev and asan, WERROR=ON), not for its users.
WERROR ?=
OPTIONS := $(if $(WERROR),-DXLM_WERROR=$(WERROR))
# Where libraries and tools are, if not in the system: a folder of conda-forge or spack (docs/install.md).
XLM_PREFIX ?=
ifneq ($(XLM_PREFIX),)
export XLM_PREFIX := $(abspath $(XLM_PREFIX))
export PATH := $(XLM_PREFIX)/bin:$(PATH)
export CXX := $(or $(wildcard $(XLM_PREFIX)/bin/g++),$(CXX))
endif
# A user without a home has no place for ccache, which would fail.
ifeq ($(CCACHE_DIR)$(shell test -w "$$HOME" && echo yes),)
export CCACHE_DISABLE := 1
endif
XLM := $(BUILD)/bin/xlm
ROOM ?= base
# What starts whole programs or a browser is left to `make test`.
TEST ?= *-*Browser*:Program*:EarlyStopping*:Launcher*:Mixed*
TEXT ?=
CHECK ?=
PART ?=
REFRESH ?=
# Side by side, but for those that want the machine for themselves (ALONE in tests/CMakeLists.txt).
RUN_TESTS := scripts/run_tests.py
# Further options of ctest: make test TESTS='-R ^results'
TESTS ?=

# In an environment these names may belong to others, as CUDA=/usr/local/cuda.
ifeq ($(origin CUDA),environment)
CUDA := $(filter 0 1,$(CUDA))
endif
ifeq ($(origin TORCH),environment)
TORCH := $(filter pinned 2.% 3.%,$(TORCH))
endif

define configure
@CUDA=$(CUDA) TORCH=$(TORCH) scripts/setup.sh scripts/begin_build.sh $(PRESET) $(OPTIONS)
@{ [ -e $(BUILD)/build.ninja ] && grep -q XLM_CORE:BOOL=ON $(BUILD)/CMakeCache.txt; } || cmake --preset $(PRESET) $(OPTIONS) >/dev/null
endef

.NOTPARALLEL:  # by make -j, two targets would build in one folder at once
.PHONY: help setup readers trackers tools extras build all room test test-slow test-skipped test-all asan coverage fuzz mutants golden demo bench bench-compare gpu-check docs-numbers null-cuda soak package portable release image format lint lint-all clean

help:       ## this list
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup:      ## install Debian packages and libtorch (CUDA=0|1 decides by hand, TORCH=2.15.0 takes that version); does nothing the second time
	@CUDA=$(CUDA) TORCH=$(TORCH) scripts/setup.sh

readers: setup  ## what tests in Python need: TensorBoard, pandas, Optuna, transformers, Lightning, pytest, mypy (600 MB)
	@READERS=1 CUDA=$(CUDA) TORCH=$(TORCH) scripts/setup.sh

trackers: setup  ## wandb, mlflow and trackio, which write the runs that some tests import (400 MB)
	@TRACKERS=1 CUDA=$(CUDA) TORCH=$(TORCH) scripts/setup.sh

tools: setup  ## LLVM 14, by which `asan`, `fuzz`, `format` and `lint` check what is written
	@TOOLS=1 CUDA=$(CUDA) TORCH=$(TORCH) scripts/setup.sh

extras: setup  ## a browser and LaTeX, which a few tests need
	@EXTRAS=1 CUDA=$(CUDA) TORCH=$(TORCH) scripts/setup.sh

build:      ## the program: build/release/bin/xlm (PRESET=dev for assertions); setup first, where that was not done
	$(configure)
	@cmake --build --preset $(PRESET) --target xlm

all: build  ## the program, its tests and benchmarks
	@cmake --build --preset $(PRESET)

room: setup  ## while you work: compile one room and its tests without optimisation, and run the quick ones (ROOM=results TEST='Pareto.*')
	@[ -e build/dev/build.ninja ] || cmake --preset dev >/dev/null
	@cmake --build --preset dev --target test_$(ROOM)
	@seq 0 3 | GTEST_TOTAL_SHARDS=4 xargs -P 4 -I {} env GTEST_SHARD_INDEX={} \
	  build/dev/bin/test_$(ROOM) --gtest_filter='$(TEST)' --gtest_brief=1  # four, as many tests wait

test:       ## the tests, but for those that `test-slow` runs
	$(configure)
	@cmake --build --preset $(PRESET) --target tests
	@$(RUN_TESTS) $(BUILD) --label-exclude slow $(TESTS)

test-slow:  ## the slow tests: campaigns, training with other seeds and kernels, the package, the wheel
	$(configure)
	@cmake --build --preset $(PRESET) --target slow_tests
	@$(RUN_TESTS) $(BUILD) --label-regex slow $(TESTS)

test-skipped: ## the tests that `test` and `test-slow` skipped, once what they lacked is there
	$(configure)
	@cmake --build --preset $(PRESET) --target tests
	@$(RUN_TESTS) $(BUILD) --again

test-all: test test-slow asan extras  ## all tests, and those that need a browser or LaTeX: installs chromium and a TeX
	@$(RUN_TESTS) build/asan --again browser,latex

asan: tools ## the tests of all but core once more, under sanitizers; and a little fuzzing
	@cmake --preset asan >/dev/null
	@cmake --build --preset asan
	@$(RUN_TESTS) build/asan $(TESTS)
	@XLM_FUZZ_RUNS=2000 scripts/fuzz.sh

coverage: setup  ## the lines that the tests of all but core run, in percent
	@cmake --preset coverage >/dev/null
	@cmake --build --preset coverage --target tests
	@find build/coverage -name '*.gcda' -delete; rm -f build/coverage/counters.log
	@$(RUN_TESTS) build/coverage --label-exclude slow
	@scripts/coverage.py build/coverage

fuzz: tools  ## fuzz everything that parses, for seconds; `make soak` does it for longer
	@scripts/fuzz.sh

golden: setup  ## the golden numbers of tests/golden, computed anew by their scripts and compared
	@export PYTHONPATH="$${PYTHONPATH:-$(CURDIR)/.deps/python}"; \
	python3 -c 'import torch' 2>/dev/null || { \
	  echo "golden: Python cannot import torch: make setup CUDA=1, or set PYTHONPATH to a folder that has it" >&2; exit 1; }; \
	cd tests/golden && for script in adaptive_span hourglass gpt2 window_memory transformer byte_patches muon bpe; do python3 -B $$script.py --check || exit 1; done

mutants: setup  ## change single lines and list the changes that no test notices: of this branch, or SAMPLE=20 of any
	@scripts/mutants.py --base $(or $(BASE),main) $(if $(SAMPLE),--sample $(SAMPLE) --seed $(or $(SEED),1))

demo:       ## a sweep, its table, Pareto front and figures, in minutes; TEXT=text8.zip for the real corpus
	@begin=$$(date +%s); $(MAKE) --no-print-directory build && echo "setup and build: $$(($$(date +%s) - begin)) s"
	@scripts/demo.sh $(XLM) "$(TEXT)"

bench: all  ## speed: training steps, start-up, results store, data preparation
	@scripts/bench.sh $(BUILD)

bench-compare:  ## the last `make bench` beside another's: OTHER=FILE, a bench.txt of another build, version or machine
	@scripts/bench_compare.py $(BUILD)/bench.txt "$(OTHER)"

gpu-check: build  ## what holds on this machine's GPU, or its CPU: kernels, resuming, losses, speed (CHECK="--size small")
	@cmake --build --preset $(PRESET) --target gpu_check
	@scripts/gpu_check.sh $(BUILD)/bin/gpu_check $(CHECK)

docs-numbers: all  ## the numbers of README and docs/ made anew, beside those that stand there (ONLY=demo|cookbook|data|corpus|steps)
	@scripts/docs_numbers.py $(BUILD) $(ONLY)

null-cuda: ## everything that runs on GPUs, on a CUDA that computes nothing: all of tests/null_cuda (REFRESH=1: writes its numbers again)
	@CUDA=1 scripts/setup.sh
	@cmake --preset $(PRESET) $(OPTIONS) >/dev/null
	@cmake --build --preset $(PRESET) --target test_null_cuda
	@XLM_CAMPAIGNS=full $(if $(REFRESH),XLM_NULL_CUDA_REFRESH=1) $(BUILD)/bin/test_null_cuda $(if $(REFRESH),--gtest_filter='*NoRow*')

soak: all tools  ## the campaigns of tests/campaigns as a whole: faults, kills, full disks, mutations, fuzzing
	@scripts/soak.sh $(BUILD)

package: build  ## a relocatable folder: package/xlm; PART=check: only what its bin/gpu-check needs
	@cmake --build --preset $(PRESET) --target gpu_check
	@scripts/package.sh $(BUILD) package/xlm $(PART)

portable: build  ## an archive that runs on any x86-64 Linux without root: package/xlm-….tar.zst (LIBTORCH=0: uses a torch wheel)
	@cmake --build --preset $(PRESET) --target launcher
	@scripts/portable.sh $(BUILD) package $(LIBTORCH)

release: build  ## what a release hands out: package/xlm-VERSION with the archive, wheels, sources, notes and checksums
	@cmake --build --preset $(PRESET) --target launcher
	@scripts/release.sh $(BUILD) package

image: portable  ## an image for docker, podman and Apptainer: package/xlm-….image.tar (needs docker, podman or buildah)
	@scripts/image.sh "$$(ls -td package/xlm-*-x86_64 | head -n 1)"

format: tools  ## format all sources
	@git ls-files '*.cpp' '*.h' '*.cuh' | xargs clang-format-14 -i

lint: tools  ## plain English, formatting, clang-tidy on the torch-free folders
	@scripts/lint.sh base core/api datasets results experiments cmd examples/paper/core/api examples/paper/datasets

lint-all: tools  ## clang-tidy on everything, and whether every file compiles alone
	@scripts/lint.sh base core datasets results experiments cmd examples
	@scripts/includes.sh base core datasets results experiments cmd examples tests

clean:      ## remove what was built (.deps stays)
	@rm -rf build package
