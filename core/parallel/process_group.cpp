// Processes that train one run together.
#include "core/parallel/process_group.h"

#include "base/error.h"
#include "base/shared_library.h"

namespace xlm {
namespace {

torch::Tensor numbers_at(double* values, std::size_t count) {
  return torch::from_blob(values, {static_cast<std::int64_t>(count)}, torch::kDouble);
}

}  // namespace

void ProcessGroup::sum(double* values, std::size_t count) { sum(numbers_at(values, count)); }

void ProcessGroup::max(double* values, std::size_t count) { max(numbers_at(values, count)); }

std::unique_ptr<ProcessGroup> join(const Processes& processes, torch::Device device) {
  if (processes.count <= 1) return nullptr;
  using Join = ProcessGroup* (*)(const Processes&, int);
  const auto join_by_nccl = reinterpret_cast<Join>(library_function("libxlm_cuda.so", "xlm_join_by_nccl"));
  std::unique_ptr<ProcessGroup> group(join_by_nccl(processes, device.index()));
  if (!group) throw Error("this program was built without NCCL: one process does a run\nset train.processes=1");
  return group;
}

OwnRows rows_of(std::int64_t rank, std::int64_t size, std::int64_t rows) {
  const std::int64_t begin = rows * rank / size;
  return {begin, rows * (rank + 1) / size - begin};
}

OwnRows own_rows(const ProcessGroup* group, std::int64_t rows) {
  return group == nullptr ? OwnRows{0, rows} : rows_of(group->rank(), group->size(), rows);
}

}  // namespace xlm
