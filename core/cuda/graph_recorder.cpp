// Steps recorded as CUDA graphs. Part of libxlm_cuda.so, which is opened after libtorch_cuda.
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>

#include <cstdint>
#include <mutex>
#include <optional>

#include "core/models/captured_steps.h"

namespace xlm {
namespace {

/// A graph that shows what is left to do for one whose capture failed, and by which name generators know it.
class Recording : public at::cuda::CUDAGraph {
 public:
  bool has_ended() const { return capture_ended_; }
  c10::MempoolId_t pool_id() const { return mempool_id_; }
  auto id() const { return capture_id_; }
};

/// How far a generator has drawn in a recording: up to libtorch 2.12 one number, later one for each recording, which
/// begins with the first draw (null: there was none).
template <class State>
std::uint64_t* draws_of(State& state, const Recording& recording) {
  if constexpr (requires { state.offset_intragraph_; }) {
    return &state.offset_intragraph_;
  } else {
    const auto found = state.capture_states_.find(recording.id());
    return found == state.capture_states_.end() ? nullptr : &found->second->offset_intragraph_;
  }
}

class GraphRecorder final : public StepRecorder, private RecordedDraws {
 public:
  // One stream for all recordings, because libtorch keeps workspaces for every stream. The default stream cannot be
  // captured.
  GraphRecorder(c10::DeviceIndex device, RecordedUse use)
      : device_(device), use_(use), stream_(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device)) {}

  // Synchronises before and after: the default stream uses the results next, and this one may reuse memory freed there.
  void warm_up(const std::function<void()>& work) override {
    const c10::cuda::CUDAGuard device(device_);
    c10::cuda::device_synchronize();
    {
      const c10::cuda::CUDAStreamGuard guard(stream_);
      work();
    }
    c10::cuda::device_synchronize();
  }

  void record(const std::function<void()>& work) override {
    const c10::cuda::CUDAGuard device(device_);
    graph_.reset();
    c10::cuda::device_synchronize();
    c10::cuda::CUDACachingAllocator::emptyCache();  // a capture cannot use cached memory
    at::Generator generator = at::cuda::detail::getDefaultCUDAGenerator(device_);
    const at::Generator before(generator.graphsafe_get_state());
    take_generator(generator);
    graph_.emplace();
    {
      const c10::cuda::CUDAStreamGuard guard(stream_);
      graph_->capture_begin();
      try {
        work();
        graph_->capture_end();
      } catch (...) {
        abandon();
        give_back(generator, before);
        throw;
      }
    }
    give_back(generator, before);
    graph_->replay();  // capturing ran nothing
  }

  void replay() override { graph_->replay(); }

  void forget() override { graph_.reset(); }

  RecordedDraws* draws() override { return this; }

 private:
  std::uint64_t place() const override {
    const std::uint64_t* draws = draws_of(*generator_, *graph_);
    return draws != nullptr ? *draws : 0;
  }
  void set_place(std::uint64_t place) override {
    if (std::uint64_t* draws = draws_of(*generator_, *graph_)) *draws = place;
  }

  /// The device's generator goes on as before, with a state that this can look into.
  void take_generator(at::Generator& generator) {
    const std::lock_guard<std::mutex> lock(generator.mutex());
    generator_ = c10::make_intrusive<at::CUDAGeneratorState>(generator.current_seed(), generator.get_offset());
    generator.graphsafe_set_state(at::make_generator<at::CUDAGeneratorImpl>(device_, generator_));
  }

  /// A recording of training seeds the state that its recording knows. So an evaluation puts it back.
  void give_back(at::Generator& generator, const at::Generator& before) const {
    if (use_ == RecordedUse::kEvaluate) generator.graphsafe_set_state(before);
  }

  /// Ends a capture that failed. If CUDA has given it up, libtorch leaves its pool of memory open, and the generator
  /// as if it were still captured. Errors are ignored here: the first failure's message matters.
  void abandon() {
    if (!graph_->has_ended()) quietly([this] { graph_->capture_end(); });
    if (!graph_->has_ended()) {
      quietly([this] { c10::cuda::CUDACachingAllocator::endAllocateToPool(device_, graph_->pool_id()); });
      quietly([this] { c10::cuda::CUDACachingAllocator::releasePool(device_, graph_->pool_id()); });
    }
    quietly([this] {
      at::Generator generator = at::cuda::detail::getDefaultCUDAGenerator(device_);
      generator.graphsafe_set_state(at::cuda::detail::createCUDAGenerator(device_));
    });
    graph_.reset();
  }

  template <class Work>
  static void quietly(const Work& work) {
    try {
      work();
    } catch (const c10::Error&) {
    }
  }

  c10::DeviceIndex device_;
  RecordedUse use_;
  c10::cuda::CUDAStream stream_;
  std::optional<Recording> graph_;
  c10::intrusive_ptr<at::CUDAGeneratorState> generator_;  // of the device, since it was last recorded
};

}  // namespace

extern "C" StepRecorder* xlm_make_recorder(int device, RecordedUse use) {
  return new GraphRecorder(static_cast<c10::DeviceIndex>(device), use);
}

}  // namespace xlm
