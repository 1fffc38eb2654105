#!/usr/bin/env bash
# trained_numbers.sh BUILD: runs the tests of trained models' numbers with three seeds, both kinds of products, 1, 2 and 3
# threads, and AVX2 only. Such a test must not depend on luck or on the machine. `make test-slow` runs a part of these
# (TrainedNumbers in tests/CMakeLists.txt), `make soak` all of them.
set -uo pipefail
build=${1:?usage: trained_numbers.sh BUILD}
core='*OverfitsOneBatch*:*MicroBatches*:*BfloatTrains*:*LearnsEvaluates*:CapturedSteps.*Train*:Windows*.*'
failed=0
runs=0
for seed in 0 1 2; do
  for products in own libtorch; do
    for threads in 1 2 3; do
      for units in "" AVX2; do
        export XLM_TEST_SEED=$seed XLM_KERNELS=products=$products OMP_NUM_THREADS=$threads
        if [ -n "$units" ]; then export ONEDNN_MAX_CPU_ISA=AVX2 ATEN_CPU_CAPABILITY=avx2; else unset ONEDNN_MAX_CPU_ISA ATEN_CPU_CAPABILITY; fi
        name="seed $seed, products of $products, $threads threads${units:+, $units}"
        runs=$((runs + 1))
        if "$build/bin/test_core" --gtest_brief=1 --gtest_filter="$core" &&
          "$build/bin/gpu_check" --device cpu --size least --threads "$threads" --seed "$seed" --out "$build/trained" windows losses; then
          echo "passed: $name"
        else
          echo "FAILED: $name"
          failed=$((failed + 1))
        fi
      done
    done
  done
done
echo "campaign: trained numbers: $runs combinations, $failed failed"
[ "$failed" = 0 ]
