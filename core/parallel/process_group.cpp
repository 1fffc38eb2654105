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

OwnRows rows_of(std::int64_t rank, std::int64_t size, std::int64_t rows) {
  const std::int64_t begin = rows * rank / size;
  return {begin, rows * (rank + 1) / size - begin};
}

OwnRows own_rows(const ProcessGroup* group, std::int64_t rows) {
  return group == nullptr ? OwnRows{0, rows} : rows_of(group->rank(), group->size(), rows);
}

}  // namespace xlm
