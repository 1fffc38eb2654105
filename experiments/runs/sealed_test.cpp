// Sealed tests.
#include "experiments/runs/sealed_test.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "results/run_folder/registration.h"

namespace xlm {

bool is_sealed(const Run& run, const std::string& split) {
  const Json* sealed = run.param(kSealedKey);
  if (sealed == nullptr || *sealed != split) return false;
  const std::vector<Registration> chain = read_registrations(run.folder.parent_path());
  return std::ranges::none_of(chain, [&](const Registration& one) { return one.opens(run.id); });
}

void check_is_open(const Run& run, const std::string& split) {
  if (!is_sealed(run, split)) return;
  throw UsageError(
      fmt::format("{} of {} is sealed (eval.sealed)\nxlm claims FILE --open measures it, once, for all runs of a sweep",
                  split, run.id));
}

}  // namespace xlm
