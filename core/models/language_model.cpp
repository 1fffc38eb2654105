// What all models share: named parameters, states by rows, loading of weights.
#include "core/models/language_model.h"

#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/text.h"
#include "core/kernels/linear.h"
#include "core/models/capabilities.h"

namespace xlm {
namespace {

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

/// Buffers that the published programs save beside their weights.
bool is_known_buffer(const std::string& name) {
  for (const std::string_view suffix : {".mask_template", "pos_emb.inv_freq", ".attn.bias", ".attn.masked_bias"}) {
    if (name.ends_with(suffix)) return true;
  }
  return false;
}

std::string without_prefix(std::string name) {
  for (const std::string_view prefix : {"module.", "transformer."}) {
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
  }
  return name;
}

}  // namespace

ModelInput ModelInput::rows(std::int64_t begin, std::int64_t count) const {
  const auto part = [&](const torch::Tensor& x) { return x.defined() ? x.narrow(0, begin, count) : x; };
  return {.tokens = part(tokens),
          .positions = part(positions),
          .boundaries = part(boundaries),
          .scored = scored,
          .traced = traced,
          .heads_traced = heads_traced};
}

ModelInput ModelInput::to(torch::Device device) const {
  const auto moved = [&](const torch::Tensor& x) { return x.defined() ? x.to(device) : x; };
  return {.tokens = moved(tokens),
          .positions = moved(positions),
          .boundaries = moved(boundaries),
          .scored = scored,
          .traced = traced,
          .heads_traced = heads_traced};
}

torch::Tensor ModelOutput::logits() const {
  return head.weight.defined() ? linear_layer(hidden, head.weight, head.bias) : hidden;
}

torch::Tensor ModelOutput::summed_loss(const torch::Tensor& targets) const {
  return summed_cross_entropy(hidden, head.weight, head.bias, targets);
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

void load_weights(LanguageModel& model, const std::vector<std::pair<std::string, torch::Tensor>>& tensors,
                  const std::string& source, Missing allowed) {
  const torch::NoGradGuard no_grad;
  std::map<std::string, torch::Tensor> missing(model.weights().begin(), model.weights().end());
  const std::map<std::string, torch::Tensor> all = missing;
  const auto* shares = capability<SharesWeightFiles>(model);
  NamedTensors repeated;
  std::vector<std::string> known;
  for (const auto& [name, tensor] : missing) known.push_back(name);
  for (const auto& [stored_name, tensor] : tensors) {
    const std::string name = without_prefix(stored_name);
    const auto found = missing.find(name);
    if (found == missing.end()) {
      if (is_known_buffer(name)) continue;
      if (const std::string original = shares != nullptr ? shares->repeated_parameter(name) : ""; !original.empty()) {
        repeated.emplace_back(original, tensor);
        continue;
      }
      throw DataError(
          fmt::format("{}: the model has no tensor '{}'{}", source, stored_name, did_you_mean(name, known)));
    }
    if (found->second.sizes() != tensor.sizes()) {
      throw DataError(fmt::format("{}: '{}' has shape [{}], the model's is [{}]", source, stored_name,
                                  fmt::join(tensor.sizes(), ", "), fmt::join(found->second.sizes(), ", ")));
    }
    if (!torch::isfinite(tensor).all().item<bool>()) {
      throw DataError(fmt::format("{}: '{}' holds values that are not finite", source, stored_name));
    }
    found->second.copy_(tensor);
    missing.erase(found);
  }
  const auto* extends = capability<ExtendsAnother>(model);
  if (allowed == Missing::kAdditions && extends != nullptr) {
    std::erase_if(missing, [&](const auto& entry) { return extends->is_addition(entry.first); });
  }
  if (!missing.empty()) {
    throw DataError(fmt::format("{}: the tensor '{}' is missing{}", source, missing.begin()->first,
                                missing.size() > 1 ? fmt::format(" (and {} more)", missing.size() - 1) : ""));
  }
  for (const auto& [name, tensor] : repeated) {
    if (!torch::equal(tensor.to(all.at(name)), all.at(name))) {
      throw DataError(
          fmt::format("{}: the model's output is tied to '{}', and the file holds another one", source, name));
    }
  }
  model.after_step();
}

}  // namespace xlm
