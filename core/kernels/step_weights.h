// Weights that a step uses many times, such as in windows that follow each other: each is cast to the type of products
// once, and its gradient is computed once, from what all uses leave behind.
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>

#include <torch/torch.h>

namespace xlm {

/// While it lives, layers of this thread that ask for it share what belongs to the weights. The gradients of the
/// weights appear in the backward pass as usual, which may run after its end. Weights must not change while it lives.
class StepWeights {
 public:
  /// What uses of all weights leave behind, in bytes.
  struct UsedBytes {
    std::size_t limit = 0;
    std::size_t now = 0;
    std::size_t most = 0;  // so far
  };
  static constexpr std::size_t kMaxBytes = std::size_t{1} << 30U;

  /// `products`: the type that matrices are multiplied in.
  /// `most_bytes`: what uses may leave behind before it becomes gradients, which are added up.
  explicit StepWeights(torch::ScalarType products, std::size_t most_bytes = kMaxBytes);
  ~StepWeights();
  StepWeights(const StepWeights&) = delete;
  StepWeights& operator=(const StepWeights&) = delete;

  /// That of this thread; null if none lives or no gradient is wanted.
  static StepWeights* current();

  /// The most bytes that uses have left behind at a time.
  std::size_t most_held() const { return bytes_->most; }

  /// x·W + b of x [..., in], weight [in, out] and bias [out], in the type of products: [..., out].
  /// With `out_first` the weight is [out, in].
  torch::Tensor affine(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias,
                       bool out_first = false);
  /// Rows of a table [n, k] for indices [...]: [..., k].
  torch::Tensor rows(const torch::Tensor& table, const torch::Tensor& indices);
  /// A weight and its bias as constants, and what else a use of them needs that is computed elsewhere. The ticket is an
  /// input of the use, which leaves its part of the gradients behind (leave_behind).
  struct Use {
    torch::Tensor weight, bias;
    torch::Tensor ticket;
    c10::intrusive_ptr<torch::CustomClassHolder> uses;
  };
  /// Of a norm: uses leave parts [n, 2, k] behind, the sum of which has the gradients of weight and bias. The bias may
  /// be undefined.
  Use norm(const torch::Tensor& weight, const torch::Tensor& bias);
  static void leave_behind(const c10::intrusive_ptr<torch::CustomClassHolder>& uses, const torch::Tensor& part);

  /// The layer norm of x [..., k] with weight [k] and bias [k], in their type.
  torch::Tensor layer_norm(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias,
                           double epsilon);

 private:
  struct Shared;
  static Shared& shared(std::unordered_map<const void*, std::unique_ptr<Shared>>& by_weight,
                        const torch::Tensor& weight);

  torch::ScalarType products_;
  std::shared_ptr<UsedBytes> bytes_;                                 // of all weights
  std::unordered_map<const void*, std::unique_ptr<Shared>> shared_;  // by the weight's identity
  std::unordered_map<const void*, std::unique_ptr<Shared>> norms_;   // likewise, of what `norm` returns
  StepWeights* before_;
};

}  // namespace xlm
