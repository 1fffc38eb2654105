// NCCL: the processes know of each other when they join, and later have their own numbers alone. A call is in progress
// for a while, as with a communicator that does not block.
#include <nccl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "tests/null_cuda/stand_in/device_memory.h"
#include "tests/null_cuda/stand_in/ledger.h"
#include "tests/null_cuda/stand_in/settings.h"
#include "tests/null_cuda/stand_in/streams.h"

struct ncclComm {
  int rank = 0;
  int count = 1;
  std::string place;  // where each process of the group makes its mark; empty: all have joined
  int left = 0;       // answers that the last call is in progress
};

namespace null_cuda {
namespace {

constexpr int kForAWhile = 2;
constexpr int kForever = -1;

ncclResult_t begin(ncclComm_t group) {
  group->left = kForAWhile;
  return ncclInProgress;
}

std::string mark_of(const ncclComm& group, int rank) { return group.place + "." + std::to_string(rank); }

void join(ncclComm& group, const ncclUniqueId& id) {
  if (settings().report.empty()) return;
  group.place = settings().report + "/joined." + std::string(id.internal);
  if (std::FILE* mark = std::fopen(mark_of(group, group.rank).c_str(), "w"); mark != nullptr) std::fclose(mark);
}

bool has_all(ncclComm& group) {
  for (int rank = 0; rank < group.count && !group.place.empty(); ++rank) {
    if (::access(mark_of(group, rank).c_str(), F_OK) != 0) return false;
  }
  group.place.clear();
  return true;
}

}  // namespace
}  // namespace null_cuda

using namespace null_cuda;

extern "C" {

const char* ncclGetErrorString(ncclResult_t /*result*/) { return "an error of the stand-in for NCCL"; }
const char* ncclGetLastError(ncclComm_t /*group*/) { return ""; }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  std::memset(id, 0, sizeof *id);
  std::snprintf(id->internal, sizeof id->internal, "%d", static_cast<int>(::getpid()));
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* group, int count, ncclUniqueId id, int rank,
                                    ncclConfig_t* /*configuration*/) {
  const Lock lock(mutex());
  *group = new ncclComm{.rank = rank, .count = count, .place = "", .left = 0};
  join(**group, id);
  return begin(*group);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t group, ncclResult_t* state) {
  const Lock lock(mutex());
  *state = group->left == 0 && has_all(*group) ? ncclSuccess : ncclInProgress;
  if (group->left > 0) --group->left;
  return ncclSuccess;
}

/// Gradients are in single precision. What is in double are numbers of the host, which it reads again.
ncclResult_t ncclAllReduce(const void* /*from*/, void* to, size_t /*count*/, ncclDataType_t type,
                           ncclRedOp_t /*operation*/, ncclComm_t group, cudaStream_t stream) {
  const Lock lock(mutex());
  if (lasting_error() != 0) return ncclUnhandledCudaError;
  enqueue(stream, "ncclAllReduce");
  started("ncclAllReduce");
  if (type == ncclDouble) {
    device_memory().keep(to);
    return begin(group);
  }
  ++counts().sums;
  if (group->rank > 0 && fails("die-in-sum")) ::raise(SIGKILL);
  begin(group);
  if (group->rank == 0 && fails("wait-in-sum")) group->left = kForever;
  return ncclInProgress;
}

ncclResult_t ncclAllGather(const void* /*from*/, void* /*to*/, size_t /*count*/, ncclDataType_t /*type*/,
                           ncclComm_t group, cudaStream_t stream) {
  const Lock lock(mutex());
  if (lasting_error() != 0) return ncclUnhandledCudaError;
  enqueue(stream, "ncclAllGather");
  started("ncclAllGather");
  return begin(group);
}

ncclResult_t ncclCommFinalize(ncclComm_t group) {
  const Lock lock(mutex());
  return begin(group);
}

ncclResult_t ncclCommDestroy(ncclComm_t group) {
  delete group;
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t group) { return ncclCommDestroy(group); }

ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

}  // extern "C"
