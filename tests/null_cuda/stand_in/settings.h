// What the environment asks of the stand-in, by the variable XLM_NULL_CUDA: "capability=86;memory=10e9;fail=malloc:5".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tests/null_cuda/stand_in/control.h"

namespace null_cuda {

/// "answer=BYTES:integer|real:NUMBER,NUMBER,…"
struct Answer {
  std::size_t bytes = 0;
  AnswerType type = AnswerType::kInteger;
  std::vector<double> numbers;
};

/// "fail=CALL:N": from the N-th call on; "fail=CALL:N:once": only that call, and only one process of those that share a
/// folder of reports.
struct FaultPlan {
  std::string call;
  long at = 1;
  bool once = false;
};

struct Settings {
  int capability = 90;   // compute capability × 10
  double memory = 80e9;  // bytes of each GPU
  int devices = 1;       // GPUs
  std::string report;    // an existing folder, where each process that uses CUDA writes PID.json
  std::string values;    // an existing folder: run the program's own kernels, and write there what they computed
  bool names = false;    // count kernels by name in the report
  std::string plant;  // wait (in a recording), host-read or launch: done in the program's place, so that tests see it
  std::vector<Answer> answers;
  std::vector<FaultPlan> faults;
};

/// The faults that can be asked for.
const std::vector<std::string>& fault_calls();

/// Throws std::invalid_argument for a setting that does not exist, or a value that is none.
Settings read_settings(std::string_view text);

/// Those of this process, read at the first call. The process ends with a message if they are wrong.
Settings& settings();

}  // namespace null_cuda
