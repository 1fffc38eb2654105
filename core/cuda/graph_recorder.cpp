// Steps recorded as CUDA graphs: the library libxlm_cuda.so, which is opened once libtorch_cuda is there.
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>

#include <optional>

#include "core/train/recorded_steps.h"

namespace xlm {
namespace {

class GraphRecorder final : public StepRecorder {
 public:
  void record(const std::function<void()>& work) override {
    graph_.emplace();  // first the new one's place: the old one's memory is free for it
    c10::cuda::device_synchronize();
    {
      // Work of the default stream cannot be captured.
      const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
      graph_->capture_begin();
      try {
        work();
      } catch (...) {
        end_capture_quietly();
        throw;
      }
      graph_->capture_end();
    }
    graph_->replay();  // capturing ran nothing
  }

  void replay() override { graph_->replay(); }

 private:
  /// After a failure whose message is the one to keep.
  void end_capture_quietly() {
    try {
      graph_->capture_end();
    } catch (const c10::Error&) {
    }
    graph_.reset();
  }

  std::optional<at::cuda::CUDAGraph> graph_;
};

}  // namespace

extern "C" StepRecorder* xlm_make_recorder() { return new GraphRecorder(); }

}  // namespace xlm
