// Which tensor of a step is the first that is not finite.
#include "core/train/first_non_finite.h"

#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "core/kernels/step_context.h"

namespace xlm {
namespace {

/// Whether a tensor has a row for each row of the batch.
enum class BatchRows { kBatch, kNone };

}  // namespace

struct FirstNonFinite::Finding {
  std::string text;  // empty: none yet
  bool watching = false;

  void look_at(const std::string& what, const torch::Tensor& tensor, BatchRows rows, std::int64_t first_row) {
    if (!watching || !text.empty() || !tensor.defined() || tensor.numel() == 0) return;
    const torch::NoGradGuard no_grad;
    const torch::Tensor wrong = torch::isfinite(tensor.detach()).logical_not();
    const auto count = wrong.sum().item<std::int64_t>();
    if (count == 0) return;
    text = fmt::format("{}: {} of {} numbers", what, count, tensor.numel());
    if (rows == BatchRows::kBatch && tensor.dim() > 1) {
      const auto row = wrong.flatten(1).any(1).to(torch::kLong).argmax().item<std::int64_t>();
      text += fmt::format(", the first in row {} of {}", row + 1, tensor.size(0));
      if (first_row > 0) text += fmt::format(" of the batch from row {} on", first_row + 1);
    }
  }
};

FirstNonFinite::FirstNonFinite(NamedTensors weights)
    : weights_(std::move(weights)), finding_(std::make_shared<Finding>()) {
  for (auto& [name, weight] : weights_) {
    weight.register_hook([finding = finding_, what = "the gradient of the weight " + name](
                             const torch::Tensor& gradient) { finding->look_at(what, gradient, BatchRows::kNone, 0); });
  }
}

FirstNonFinite::~FirstNonFinite() { finding_->watching = false; }

void FirstNonFinite::begin_step() {
  finding_->text.clear();
  finding_->watching = true;
  last_named_.clear();
  for (const auto& [name, weight] : weights_) {
    finding_->look_at("the weight " + name + ", before the step", weight, BatchRows::kNone, 0);
  }
}

/// Weights that a model has put together from several have no name; the product before one of these has.
std::string FirstNonFinite::name_of(const torch::Tensor& weight) const {
  for (const auto& [name, known] : weights_) {
    if (weight.data_ptr() == known.data_ptr() && weight.numel() == known.numel()) return name;
  }
  return "";
}

void FirstNonFinite::product(const torch::Tensor& input, const torch::Tensor& weight, const torch::Tensor& output) {
  const std::string name = weight.defined() ? name_of(weight) : "";
  const std::string place = !weight.defined()     ? "the loss"
                            : !name.empty()       ? name
                            : last_named_.empty() ? "the first layer"
                                                  : "the layer after " + last_named_;
  if (!name.empty()) last_named_ = name;
  const std::int64_t first_row = step_context().first_row;
  const std::string reads = "the activation that " + place + " reads";
  const std::string makes = "the activation that " + place + " makes";
  finding_->look_at(reads, input, BatchRows::kBatch, first_row);
  finding_->look_at(makes, output, BatchRows::kBatch, first_row);
  if (!output.defined() || !output.requires_grad()) return;
  output.register_hook(
      [finding = finding_, what = "the gradient of " + makes, first_row](const torch::Tensor& gradient) {
        finding->look_at(what, gradient, BatchRows::kBatch, first_row);
      });
}

void FirstNonFinite::loss(const torch::Tensor& loss) {
  finding_->look_at("the loss, though " + last_named_ + " reads finite numbers", loss, BatchRows::kNone, 0);
}

void FirstNonFinite::end_step() {
  for (const auto& [name, weight] : weights_) {
    finding_->look_at("the weight " + name + ", after its update", weight, BatchRows::kNone, 0);
  }
}

std::optional<std::string> FirstNonFinite::found() const {
  return finding_->text.empty() ? std::nullopt : std::optional(finding_->text);
}

void FirstNonFinite::check(std::int64_t step, const Json& place) const {
  if (finding_->text.empty()) return;
  throw DivergedError(
      fmt::format("step {} diverged; the last finite checkpoint is kept\n"
                  "the first tensor that is not finite: {}\n"
                  "its batch is at {} of the training text",
                  step, finding_->text, place.dump()));
}

}  // namespace xlm
