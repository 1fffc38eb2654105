// The list of all kinds of work.
#include "experiments/worker/work.h"

#include "experiments/worker/core_work.h"

namespace xlm {

std::unique_ptr<Work> make_work(const Run& /*run*/, const std::function<Core&()>& open_core,
                                const WorkSettings& settings) {
  return make_core_work(open_core, settings);
}

}  // namespace xlm
