// The fake core as a library that the program opens in place of libxlm_core.so.
#include "tests/experiments/fake_core.h"

namespace xlm {

extern "C" Core* xlm_core() {
  static FakeCore core;
  return &core;
}

}  // namespace xlm
