// No queue at all: the command that starts a worker is printed, for people and for schedulers of other kinds.
#include <fmt/format.h>

#include "base/text.h"
#include "experiments/launchers/launcher.h"

namespace xlm {
namespace {

class ManualQueue : public WorkerQueue {
 public:
  explicit ManualQueue(const QueueRequest& request) : request_(request) {}

  std::string preview(std::int64_t /*count*/) override { return add(0); }

  std::optional<std::vector<QueuedWorker>> workers() override { return std::nullopt; }

  std::string add(std::int64_t /*count*/) override {
    return fmt::format(
        "start as many workers as you like, on any machine that sees this folder; each ends when no run is left:\n"
        "  {} worker --sweep {}\n",
        shell_word(request_.program.string()), shell_word(request_.list.file().string()));
  }

 private:
  const QueueRequest& request_;
};

}  // namespace

std::unique_ptr<WorkerQueue> make_manual_queue(QueueRequest& request) { return std::make_unique<ManualQueue>(request); }

}  // namespace xlm
