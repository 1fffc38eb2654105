// Common parts of all models: named parameters, states by rows, loading of weights.
#include "core/models/language_model.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/text.h"
#include "core/kernels/linear.h"
#include "core/kernels/step_context.h"
#include "core/models/capabilities.h"
#include "core/models/symbol_rows.h"

namespace xlm {
namespace {

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

/// The parameter's name here, without the prefixes of a model's wrappers, such as torch.compile at any part of it.
std::string parameter_name(std::string name) {
  constexpr std::string_view kCompiled = "_orig_mod.";
  for (std::size_t at = 0; (at = name.find(kCompiled, at)) != std::string::npos;) {
    if (at == 0 || name[at - 1] == '.') {
      name.erase(at, kCompiled.size());
    } else {
      at += kCompiled.size();
    }
  }
  for (const std::string_view prefix : {"module.", "transformer."}) {
    while (name.starts_with(prefix)) name.erase(0, prefix.size());
  }
  return name;
}

/// Whether `rows` are `symbols` padded to a multiple of 8, 16, 32, …
bool is_padding(std::int64_t rows, std::int64_t symbols) {
  constexpr std::int64_t kLeast = 8;
  const std::int64_t multiple = rows & -rows;  // the largest power of two that divides it
  return multiple >= kLeast && rows - symbols < multiple;
}

/// Copies tensors of a file into parameters, and reports what is wrong with one.
class WeightLoader {
 public:
  WeightLoader(const LanguageModel& model, const std::string& source, UnusedRows unused, const SymbolRows* rows)
      : shares_(capability<SharesWeightFiles>(model)), source_(source), unused_(unused), rows_(rows) {}

  std::int64_t unused_rows() const { return unused_rows_; }

  /// The tensor in the parameter's shape: without rows that have no symbol.
  torch::Tensor fitted(const std::string& stored_name, const torch::Tensor& tensor, const std::string& name,
                       const torch::Tensor& parameter) {
    torch::Tensor fitting = tensor;
    if (!tensor.is_floating_point()) {
      throw DataError(fmt::format("{}: '{}' holds numbers of type {}, not weights: quantised models are not read",
                                  source_, stored_name, torch::toString(tensor.scalar_type())));
    }
    if (rows_ != nullptr && rows_->places.contains(name)) {
      return finite(stored_name, with_common_rows(stored_name, tensor, parameter, rows_->places.at(name)));
    }
    const bool more_rows = shares_ != nullptr && shares_->has_rows_of_symbols(name) && tensor.dim() == 2 &&
                           tensor.size(0) > parameter.size(0) && tensor.size(1) == parameter.size(1);
    if (more_rows) {
      const std::int64_t symbols = parameter.size(0);
      if (unused_ == UnusedRows::kPadding && !is_padding(tensor.size(0), symbols)) {
        throw DataError(
            fmt::format("{}: '{}' has {} rows, and there are {} symbols: which are they?\n"
                        "put the tokenizer's files next to the weights: vocab.json and merges.txt, or tokenizer.json",
                        source_, stored_name, tensor.size(0), symbols));
      }
      unused_rows_ = tensor.size(0) - symbols;
      fitting = tensor.narrow(0, 0, symbols);
    }
    if (fitting.sizes() != parameter.sizes()) {
      throw DataError(fmt::format("{}: '{}' has shape [{}], the model's is [{}]", source_, stored_name,
                                  fmt::join(tensor.sizes(), ", "), fmt::join(parameter.sizes(), ", ")));
    }
    return finite(stored_name, fitting);
  }

 private:
  torch::Tensor finite(const std::string& stored_name, const torch::Tensor& tensor) const {
    if (torch::isfinite(tensor).all().item<bool>()) return tensor;
    throw DataError(fmt::format("{}: '{}' holds values that are not finite", source_, stored_name));
  }

  /// The parameter with the file's values at the places of common symbols along dimension `place`.
  torch::Tensor with_common_rows(const std::string& stored_name, const torch::Tensor& tensor,
                                 const torch::Tensor& parameter, std::int64_t place) const {
    bool fits = tensor.dim() == parameter.dim();
    for (std::int64_t d = 0; fits && d < tensor.dim(); ++d) {
      fits = d == place ? tensor.size(d) >= rows_->symbols : tensor.size(d) == parameter.size(d);
    }
    if (!fits) {
      throw DataError(fmt::format("{}: '{}' has shape [{}], the model's is [{}] for other symbols", source_,
                                  stored_name, fmt::join(tensor.sizes(), ", "), fmt::join(parameter.sizes(), ", ")));
    }
    return parameter.detach().clone().index_copy_(
        place, torch::tensor(rows_->to), tensor.index_select(place, torch::tensor(rows_->from)).to(parameter.dtype()));
  }

  const SharesWeightFiles* shares_;
  const std::string& source_;
  UnusedRows unused_;
  const SymbolRows* rows_;  // null: the file has the model's symbols
  std::int64_t unused_rows_ = 0;
};

}  // namespace

bool is_known_buffer(const std::string& stored_name) {
  const std::string name = parameter_name(stored_name);
  constexpr std::array<std::string_view, 5> kBuffers{".mask_template", "pos_emb.inv_freq", "rotary_emb.inv_freq",
                                                     ".attn.bias", ".attn.masked_bias"};
  return std::ranges::any_of(kBuffers, [&](std::string_view end) { return name.ends_with(end); });
}

ModelInput ModelInput::rows(std::int64_t begin, std::int64_t count) const {
  ModelInput part = *this;
  for (torch::Tensor* x : {&part.tokens, &part.positions, &part.boundaries, &part.noise}) {
    if (x->defined()) *x = x->narrow(0, begin, count);
  }
  return part;
}

ModelInput ModelInput::to(torch::Device device) const {
  ModelInput moved = *this;
  for (torch::Tensor* x : {&moved.tokens, &moved.positions, &moved.boundaries, &moved.noise}) {
    if (x->defined()) *x = x->to(device);
  }
  return moved;
}

torch::Tensor ModelOutput::logits() const {
  return head.weight.defined() ? linear_layer(hidden, head.weight, head.bias) : hidden;
}

torch::Tensor ModelOutput::summed_loss(const torch::Tensor& targets) const {
  observe_product(hidden, head.weight, {});
  return summed_cross_entropy(hidden, head.weight, head.bias, counted_targets(targets));
}

torch::Tensor ModelOutput::losses(const torch::Tensor& targets) const {
  const torch::Tensor counted = counted_targets(targets);
  std::vector<torch::Tensor> rows;
  for (std::int64_t row = 0; row < counted.size(0); ++row) {
    const ModelOutput one{.hidden = hidden.narrow(0, row, 1), .head = head};
    const torch::Tensor logits = one.logits().flatten(0, 1).to(torch::kDouble);  // [scored, V]
    rows.push_back(torch::cross_entropy_loss(logits, counted[row], {}, at::Reduction::None, kNoTarget));
  }
  return torch::stack(rows);
}

torch::Tensor ModelOutput::mean_loss(const torch::Tensor& targets) const {
  if (!left_out.defined()) return summed_loss(targets) / targets.numel();
  torch::Tensor sum;
  for (std::int64_t row = 0; row < targets.size(0); ++row) {
    const ModelOutput one{.hidden = hidden.narrow(0, row, 1), .head = head, .left_out = left_out.narrow(0, row, 1)};
    const torch::Tensor wanted = one.counted_targets(targets.narrow(0, row, 1));
    const torch::Tensor mean = one.summed_loss(wanted) / wanted.ne(kNoTarget).sum().clamp_min(1);
    sum = sum.defined() ? sum + mean : mean;
  }
  return sum / targets.size(0);
}

torch::Tensor ModelOutput::counted_targets(const torch::Tensor& targets) const {
  return left_out.defined() ? targets.masked_fill(left_out, kNoTarget) : targets;
}

State state_rows(const State& state, std::int64_t begin, std::int64_t count) {
  State rows;
  for (const torch::Tensor& tensor : state) rows.push_back(tensor.narrow(0, begin, count));
  return rows;
}

State concatenate_states(const std::vector<State>& parts) {
  if (parts.size() == 1) return parts.front();
  State whole;
  for (std::size_t i = 0; i < parts.front().size(); ++i) {
    std::vector<torch::Tensor> rows;
    for (const State& part : parts) rows.push_back(part[i]);
    whole.push_back(torch::cat(rows, 0));
  }
  return whole;
}

std::int64_t LanguageModel::parameter_count() const {
  std::int64_t count = 0;
  for (const auto& [name, tensor] : weights_) count += tensor.numel();
  return count;
}

torch::Tensor LanguageModel::parameter(const std::string& name, torch::Tensor initial) {
  torch::nn::Module* owner = this;
  const std::vector<std::string> steps = split(name, '.');
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    const auto child = owner->named_children().find(steps[i]);
    owner = child != nullptr ? child->get()
                             : owner->register_module(steps[i], std::make_shared<torch::nn::Module>(steps[i])).get();
  }
  torch::Tensor registered = owner->register_parameter(steps.back(), std::move(initial));
  weights_.emplace_back(name, registered);
  return registered;
}

std::int64_t load_weights(LanguageModel& model, const std::vector<std::pair<std::string, torch::Tensor>>& tensors,
                          const std::string& source, Missing allowed, UnusedRows unused, const SymbolRows* rows) {
  const torch::NoGradGuard no_grad;
  std::map<std::string, torch::Tensor> missing(model.weights().begin(), model.weights().end());
  const std::map<std::string, torch::Tensor> all = missing;
  const auto* shares = capability<SharesWeightFiles>(model);
  WeightLoader loader(model, source, unused, rows);
  NamedTensors repeated;
  std::vector<std::string> known;
  for (const auto& [name, tensor] : missing) known.push_back(name);
  for (const auto& [stored_name, tensor] : tensors) {
    const std::string name = parameter_name(stored_name);
    const auto found = missing.find(name);
    if (found == missing.end()) {
      if (is_known_buffer(name)) continue;
      if (const std::string original = shares != nullptr ? shares->repeated_parameter(name) : ""; !original.empty()) {
        repeated.emplace_back(original, loader.fitted(stored_name, tensor, original, all.at(original)));
        continue;
      }
      throw DataError(
          fmt::format("{}: the model has no tensor '{}'{}", source, stored_name, did_you_mean(name, known)));
    }
    found->second.copy_(loader.fitted(stored_name, tensor, name, found->second));
    missing.erase(found);
  }
  for (const auto& [name, tensor] : repeated) {
    if (missing.erase(name) > 0) {  // a tied tensor may be saved under its other name only
      all.at(name).copy_(tensor);
    } else if (!torch::equal(tensor.to(all.at(name)), all.at(name))) {
      throw DataError(
          fmt::format("{}: the model's output is tied to '{}', and the file holds another one", source, name));
    }
  }
  const auto* extends = capability<ExtendsAnother>(model);
  if (allowed == Missing::kAdditions && extends != nullptr) {
    std::erase_if(missing, [&](const auto& entry) { return extends->is_addition(entry.first); });
  }
  if (!missing.empty()) {
    throw DataError(fmt::format("{}: the tensor '{}' is missing{}", source, missing.begin()->first,
                                missing.size() > 1 ? fmt::format(" (and {} more)", missing.size() - 1) : ""));
  }
  model.after_step();
  return loader.unused_rows();
}

}  // namespace xlm
