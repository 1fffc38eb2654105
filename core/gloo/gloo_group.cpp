// Processes that meet and add up by gloo, over TCP. A library of its own (libxlm_gloo.so): libtorch holds another
// version of gloo under the same names, and neither may be called for the other.
#include <chrono>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include "base/error.h"
#include "core/parallel/process_group.h"

namespace xlm {
namespace {

/// A process that has ended closes its connections; one that is silent may have been halted, for a night or a week.
constexpr std::chrono::hours kSilence{24 * 30};

/// Stops waiting for those who will not come.
class MeetingPlace : public gloo::rendezvous::FileStore {
 public:
  MeetingPlace(const fs::path& folder, std::function<bool()> give_up)
      : FileStore(folder.string()), give_up_(std::move(give_up)) {}

  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) override {
    const auto end = std::chrono::steady_clock::now() + timeout;
    while (!check(keys)) {
      if (give_up_ && give_up_()) throw LostProcessError("one of them has ended, or was asked to stop");
      if (std::chrono::steady_clock::now() > end)
        throw LostProcessError(
            fmt::format("not all came within {:g} s", std::chrono::duration<double>(timeout).count()));
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

 private:
  std::function<bool()> give_up_;
};

class GlooGroup final : public ProcessGroup {
 public:
  explicit GlooGroup(const Processes& processes) : ProcessGroup(processes.rank, processes.count) {
    try {
      MeetingPlace store(processes.meeting, processes.give_up);
      gloo::transport::tcp::attr place;
      place.hostname = processes.address;
      auto context = std::make_shared<gloo::rendezvous::Context>(static_cast<int>(processes.rank),
                                                                 static_cast<int>(processes.count));
      context->setTimeout(std::chrono::milliseconds(static_cast<std::int64_t>(processes.patience * 1000)));
      auto device = gloo::transport::tcp::CreateDevice(place);
      context->connectFullMesh(store, device);
      context->setTimeout(kSilence);
      context_ = std::move(context);
    } catch (const std::exception& error) {
      throw LostProcessError(
          fmt::format("process {} of {} did not meet the others: {}\nthe log of the run says how they ended",
                      processes.rank + 1, processes.count, without_place(error.what())));
    }
  }

  void sum(float* values, std::size_t count) override { reduce(values, count, &gloo::sum<float>); }
  void sum(double* values, std::size_t count) override { reduce(values, count, &gloo::sum<double>); }
  void max(double* values, std::size_t count) override { reduce(values, count, &gloo::max<double>); }

  void gather(const void* own, std::size_t bytes, void* all) override {
    if (bytes == 0) return;
    together([&] {
      gloo::AllgatherOptions options(context_);
      std::string copy(static_cast<const char*>(own), bytes);
      options.setInput(copy.data(), bytes);
      options.setOutput(static_cast<char*>(all), bytes * static_cast<std::size_t>(size()));
      gloo::allgather(options);
    });
  }

 private:
  template <class Number>
  void reduce(Number* values, std::size_t count, void (*join)(void*, const void*, const void*, std::size_t)) {
    if (count == 0) return;
    together([&] {
      gloo::AllreduceOptions options(context_);
      options.setOutput(values, count);
      options.setReduceFunction(join);
      gloo::allreduce(options);
    });
  }

  static void together(const std::function<void()>& work) {
    try {
      work();
    } catch (const std::exception& error) {
      throw LostProcessError(fmt::format("another process of the run has ended: {}", without_place(error.what())));
    }
  }

  /// gloo's messages begin with a place in its source.
  static std::string without_place(const std::string& message) {
    const std::size_t end = message.front() == '[' ? message.find("] ") : std::string::npos;
    return end == std::string::npos ? message : message.substr(end + 2);
  }

  std::shared_ptr<gloo::rendezvous::Context> context_;
};

}  // namespace

extern "C" ProcessGroup* xlm_join(const Processes& processes) { return new GlooGroup(processes); }

}  // namespace xlm
