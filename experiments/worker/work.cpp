// The list of all kinds of work.
#include "experiments/worker/work.h"

#include "experiments/worker/core_work.h"
#include "experiments/worker/program_work.h"

namespace xlm {

std::unique_ptr<Work> make_work(const Run& run, const std::function<Core&()>& open_core, const WorkSettings& settings) {
  if (run.param("program.command") != nullptr) return make_program_work(settings);
  return make_core_work(open_core, settings);
}

}  // namespace xlm
