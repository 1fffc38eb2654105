// What the layers of a step depend on besides their arguments.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <torch/torch.h>

namespace xlm {

class StepWeights;

/// For looking into a step: sees every linear layer's input and output, in order.
class ProductObserver {
 public:
  virtual ~ProductObserver() = default;
  /// A linear layer has read `input` [..., in] and made `output` [..., out] of it, with this weight. `output` is
  /// undefined if it is never made as a whole.
  virtual void product(const torch::Tensor& input, const torch::Tensor& weight, const torch::Tensor& output) = 0;
};

/// Where a GPU's generator stands among the draws of a recording. libtorch tells it only outside of recordings.
class RecordedDraws {
 public:
  virtual ~RecordedDraws() = default;
  virtual std::uint64_t place() const = 0;
  /// The next draw repeats the one that was made from this place.
  virtual void set_place(std::uint64_t place) = 0;
};

/// Of one thread. Who runs a step sets these here, so that the layers between need not hand them on to those that ask.
/// Nothing else in core is hidden in a thread.
struct StepContext {
  std::int64_t first_row = 0;           // of the batch, that the thread computes: draws by place depend on it
  bool seeds_on_device = false;         // a GPU's dropout by place gets its seeds from the GPU's generator: a seed that
                                        // is a number of a recorded step would drop the same elements in every replay
  RecordedDraws* draws = nullptr;       // while a step is recorded on a GPU
  bool sizes_alone = false;             // initial weights have a size but no numbers: what a model of any size costs is
                                        // known without its memory
  ProductObserver* observer = nullptr;  // who sees the products
  StepWeights* weights = nullptr;       // what uses of a weight share (step_weights.h)
};

/// That of this thread.
StepContext& step_context();

/// Sets a part of this thread's context while it lives.
template <auto kPart>
class InStepContext {
 public:
  using Value = std::remove_reference_t<decltype(std::declval<StepContext&>().*kPart)>;
  explicit InStepContext(Value value) : before_(std::exchange(step_context().*kPart, value)) {}
  ~InStepContext() { step_context().*kPart = before_; }
  InStepContext(const InStepContext&) = delete;
  InStepContext& operator=(const InStepContext&) = delete;

 private:
  Value before_;
};

using PartOfBatch = InStepContext<&StepContext::first_row>;  // the rows from this one on
using SeedsOnDevice = InStepContext<&StepContext::seeds_on_device>;
using DrawsOfRecording = InStepContext<&StepContext::draws>;
using SizesAlone = InStepContext<&StepContext::sizes_alone>;
using ObservedProducts = InStepContext<&StepContext::observer>;

/// Shows a product to this thread's observer, if there is one.
void observe_product(const torch::Tensor& input, const torch::Tensor& weight, const torch::Tensor& output);

}  // namespace xlm
