// NCCL: the processes do not meet. A call is in progress for a while, as with a communicator that does not block.
#include <nccl.h>

#include <csignal>
#include <cstring>

#include "tests/null_cuda/stand_in/ledger.h"
#include "tests/null_cuda/stand_in/streams.h"

struct ncclComm {
  int rank = 0;
  int left = 0;  // answers that the last call is in progress
};

namespace null_cuda {
namespace {

constexpr int kForAWhile = 2;
constexpr int kForever = -1;

ncclResult_t begin(ncclComm_t group) {
  group->left = kForAWhile;
  return ncclInProgress;
}

}  // namespace
}  // namespace null_cuda

using namespace null_cuda;

extern "C" {

const char* ncclGetErrorString(ncclResult_t /*result*/) { return "an error of the stand-in for NCCL"; }
const char* ncclGetLastError(ncclComm_t /*group*/) { return ""; }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  std::memset(id, 1, sizeof *id);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* group, int /*count*/, ncclUniqueId /*id*/, int rank,
                                    ncclConfig_t* /*configuration*/) {
  const Lock lock(mutex());
  *group = new ncclComm{.rank = rank, .left = 0};
  return begin(*group);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t group, ncclResult_t* state) {
  const Lock lock(mutex());
  *state = group->left == 0 ? ncclSuccess : ncclInProgress;
  if (group->left > 0) --group->left;
  return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void* /*from*/, void* /*to*/, size_t /*count*/, ncclDataType_t /*type*/,
                           ncclRedOp_t /*operation*/, ncclComm_t group, cudaStream_t stream) {
  const Lock lock(mutex());
  if (lasting_error() != 0) return ncclUnhandledCudaError;
  enqueue(stream, "ncclAllReduce");
  ++counts().sums;
  started("ncclAllReduce");
  if (group->rank > 0 && fails("die-in-sum")) ::raise(SIGKILL);
  begin(group);
  if (group->rank == 0 && fails("wait-in-sum")) group->left = kForever;
  return ncclInProgress;
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
