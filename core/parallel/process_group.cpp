// Meeting the other processes of a run.
#include "core/parallel/process_group.h"

#include "base/shared_library.h"

namespace xlm {

std::unique_ptr<ProcessGroup> join(const Processes& processes) {
  if (processes.count <= 1) return nullptr;
  using Join = ProcessGroup* (*)(const Processes&);
  const auto meet = reinterpret_cast<Join>(library_function("libxlm_gloo.so", "xlm_join", Symbols::kOwnFirst));
  return std::unique_ptr<ProcessGroup>(meet(processes));
}

OwnRows own_rows(const ProcessGroup* group, std::int64_t rows) {
  if (group == nullptr) return {0, rows};
  const std::int64_t begin = rows * group->rank() / group->size();
  return {begin, rows * (group->rank() + 1) / group->size() - begin};
}

}  // namespace xlm
