// What a worker's process gets from the one that starts it.
#include "experiments/worker/worker_process.h"

#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "tests/temporary_folder.h"

namespace xlm {
namespace {

class WorkerGpus : public testing::Test {
 protected:
  WorkerGpus() { forget(); }
  ~WorkerGpus() override { forget(); }

  static void forget() {
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    ::unsetenv("CUDA_DEVICE_ORDER");
  }

  /// "ORDER VISIBLE" as a worker sees them that is given `gpu`.
  std::string seen_with(const std::string& gpu) const {
    const fs::path log = folder_.path() / "log";
    fs::remove(log);
    WorkerProcess worker(
        {.arguments = {"/bin/sh", "-c", "echo \"${CUDA_DEVICE_ORDER-none} ${CUDA_VISIBLE_DEVICES-none}\""},
         .log = log,
         .gpu = gpu});
    std::optional<int> code;
    while (!(code = worker.ended())) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(code, 0);
    return read_file(log);
  }

  const TemporaryFolder folder_;
};

TEST_F(WorkerGpus, AreNumberedAsTheUserNumbersThem) {
  EXPECT_EQ(seen_with("1"), "PCI_BUS_ID 1\n") << "as nvidia-smi shows them";
  EXPECT_EQ(seen_with(""), "none none\n");
  ::setenv("CUDA_VISIBLE_DEVICES", "2,0", 1);
  EXPECT_EQ(seen_with("2"), "none 2\n") << "CUDA's own order is the one that the user's numbers mean";
  ::setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
  EXPECT_EQ(seen_with("0"), "PCI_BUS_ID 0\n");
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  ::setenv("CUDA_DEVICE_ORDER", "FASTEST_FIRST", 1);
  EXPECT_EQ(seen_with("3"), "FASTEST_FIRST 3\n");
}

}  // namespace
}  // namespace xlm
