// What only some models can do. A model derives from the interfaces that it supports. Code that needs one calls
// capability<T>(model); a model without it is not affected.
//
// B batch, T tokens of a row in one call, V vocabulary.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <torch/torch.h>

#include "base/error.h"
#include "core/models/captured_steps.h"
#include "core/models/language_model.h"
#include "datasets/prepared/prepared.h"

namespace xlm {

/// Windows of T tokens. Each repeats the last O tokens of the one before and scores its last T − O predictions; the
/// first one scores all (experiments/recipes/recurrence/README.md#windows-and-overlap).
struct WindowShape {
  std::int64_t window = 0;
  std::int64_t overlap = 0;
};

/// A text that grows at its end, for a model that need not read it again for every token.
class TextReader {
 public:
  virtual ~TextReader() = default;
  /// Reads the next [n] tokens, n ≥ 1; returns the logits [V] of the token after them.
  virtual torch::Tensor read(const torch::Tensor& tokens) = 0;
};

/// How a growing text is read.
struct ReaderSettings {
  std::int64_t block = 512;     // with state: tokens of one call
  std::int64_t context = 2048;  // without state: tokens of one call, and the most that a model without a limit sees
  MakeRecorder recorder = {};   // for single tokens
};

/// Reads a text in overlapping windows: every model of TextScheme::kWindows. One call of `forward` is one window;
/// without an initial state, windows are independent of each other.
class ReadsWindows {
 public:
  virtual ~ReadsWindows() = default;
  virtual WindowShape windows() const = 0;
};

/// Reads a text token by token and keeps what it has computed.
class ReadsIncrementally {
 public:
  virtual ~ReadsIncrementally() = default;
  virtual std::unique_ptr<TextReader> reader(const ReaderSettings& settings) = 0;
};

/// Needs the symbols before the first call on real text.
class NeedsVocabulary {
 public:
  virtual ~NeedsVocabulary() = default;
  /// Throws UsageError for a vocabulary that does not fit the model's options.
  virtual void set_vocabulary(const Vocabulary& vocabulary) = 0;
};

/// Learns from a segmentation of the text, as ModelInput::boundaries.
class LearnsFromSegmentation {
 public:
  virtual ~LearnsFromSegmentation() = default;
  /// The tokenizer of that segmentation; "" if the options need none.
  virtual std::string tokenizer() const = 0;
};

/// Pools tokens into groups.
class PoolsTokens {
 public:
  virtual ~PoolsTokens() = default;
  /// Where groups end: [B, T] bool; undefined if the options leave nothing to pool.
  virtual torch::Tensor boundaries(const ModelInput& input) = 0;
};

/// Reports values of single tokens.
class TracesTokens {
 public:
  virtual ~TracesTokens() = default;
  /// Whether `forward` fills ModelOutput::token_values on request.
  virtual bool has_token_values() const = 0;
};

/// Reports how single heads look back.
class TracesHeads {
 public:
  virtual ~TracesHeads() = default;
  /// How many tokens before a token a head may see. On request `forward` fills ModelOutput::head_values for as many
  /// distances.
  virtual std::int64_t head_reach() const = 0;
};

/// Knows which operations a training step performs, apart from the sizes of its arguments. Steps with the same
/// operations can be recorded and replayed.
class Capturable {
 public:
  virtual ~Capturable() = default;
  /// nullopt if the operations depend on values that are read from the device.
  virtual std::optional<std::string> graph_signature() const = 0;
  /// From now on sizes that follow from parameters or from the text change as rarely as possible, so that a recording
  /// stays valid longer.
  virtual void hold_sizes() {}
  /// The held sizes, for checkpoints, and restoring them: once held, they depend on all earlier parameters.
  virtual std::vector<std::int64_t> held_sizes() const { return {}; }
  virtual void set_held_sizes(const std::vector<std::int64_t>& /*sizes*/) {}
  /// ModelInput::room for a step on a text, which changes as rarely as possible; 0 if no size follows from the text, or
  /// if it is not known yet.
  virtual std::int64_t room(const ModelInput& /*input*/) { return 0; }
  /// Whether a step with that room had room for what it needed (ModelOutput::needed). If not, its numbers mean nothing
  /// and nothing was counted; there is room from now on.
  virtual bool had_room(const std::vector<std::int64_t>& /*needed*/, std::int64_t /*room*/) { return true; }
  /// ModelInput::noise for a step on a text; undefined if the model needs none.
  virtual torch::Tensor noise(const ModelInput& /*input*/) { return {}; }
};

/// Extends another model, whose weights training may start from.
class ExtendsAnother {
 public:
  virtual ~ExtendsAnother() = default;
  /// Whether this parameter belongs to the extension, so that the other model's weights may lack it.
  virtual bool is_addition(const std::string& name) const = 0;
};

/// Has parameters that learn faster or slower than others.
class HasRateMultipliers {
 public:
  virtual ~HasRateMultipliers() = default;
  /// What the learning rate of this parameter is multiplied by.
  virtual double rate_multiplier(const std::string& name) const = 0;
  /// The factor in it that follows from the part of the model, not from the parameter's size.
  virtual double part_multiplier(const std::string& /*name*/) const { return 1; }
};

/// Has another model inside, which was trained before and stays as it is.
class HoldsInnerModel {
 public:
  virtual ~HoldsInnerModel() = default;
  /// The folder of that model; "" if the options name none.
  virtual std::string inner_model() const = 0;
  /// Throws DataError with `source` if a model of these options predicts otherwise than the one that this model's
  /// options describe, even if its weights have the same shapes.
  virtual void check_inner_options(const ModelOptions& options, const std::string& source) const = 0;
  /// Copies its weights. Throws DataError with `source` if they are not those of the model that the options describe.
  virtual void take_inner_model(const std::vector<std::pair<std::string, torch::Tensor>>& tensors,
                                const std::string& source) = 0;
  /// Chooses numbers that follow from that model and a text, [N, T] int64. Returns them in words; "" if there are none.
  virtual std::string fit_inner_model(const torch::Tensor& tokens) = 0;
};

/// Shares its weight files with other programs.
class SharesWeightFiles {
 public:
  virtual ~SharesWeightFiles() = default;
  /// The name of this parameter in other programs. It is read by either name.
  virtual std::string stored_name(const std::string& name) const = 0;
  /// The parameter that a tensor of this name, not a parameter itself, repeats in files of other programs; "": none.
  virtual std::string repeated_parameter(const std::string& name) const = 0;
  /// Whether the parameter has a row for each symbol. Files of other programs may have more rows.
  virtual bool has_rows_of_symbols(const std::string& name) const = 0;
  /// What other programs expect next to the weights: contents by file name.
  virtual std::map<std::string, std::string> companion_files() const = 0;
};

/// The model as a T; null if it is not one.
template <class T>
T* capability(LanguageModel& model) {
  return dynamic_cast<T*>(&model);
}
template <class T>
const T* capability(const LanguageModel& model) {
  return dynamic_cast<const T*>(&model);
}

/// The windows of a model of TextScheme::kWindows. Throws Error if it does not derive from ReadsWindows.
inline WindowShape windows_of(const LanguageModel& model) {
  const auto* reads = capability<ReadsWindows>(model);
  if (reads == nullptr)
    throw Error("a model of TextScheme::kWindows must say its windows: derive it from ReadsWindows");
  return reads->windows();
}

/// The tokenizer whose segmentation of the text a model learns from; "": none.
inline std::string tokenizer_of(const LanguageModel& model) {
  const auto* learns = capability<LearnsFromSegmentation>(model);
  return learns != nullptr ? learns->tokenizer() : "";
}

/// What the learning rate of each parameter is multiplied by; empty: 1 for all. The model outlives it.
inline std::function<double(const std::string&)> rate_multipliers(const LanguageModel& model) {
  const auto* has = capability<HasRateMultipliers>(model);
  if (has == nullptr) return {};
  return [has](const std::string& name) { return has->rate_multiplier(name); };
}

/// The same without factors that follow from sizes.
inline std::function<double(const std::string&)> part_multipliers(const LanguageModel& model) {
  const auto* has = capability<HasRateMultipliers>(model);
  if (has == nullptr) return {};
  return [has](const std::string& name) { return has->part_multiplier(name); };
}

/// `input` for a step that may be recorded.
inline ModelInput recordable_input(LanguageModel& model, ModelInput input) {
  if (auto* captured = capability<Capturable>(model)) {
    input.room = captured->room(input);
    input.noise = captured->noise(input);
  }
  return input;
}

/// Whether a step on such an input had room for `needed` (ModelOutput::needed), which it waits for. If not, it is to be
/// done again, with the same random numbers.
inline bool had_room(LanguageModel& model, const ModelInput& input, const torch::Tensor& needed) {
  if (!needed.defined()) return true;
  const torch::Tensor all = needed.cpu();
  const auto* first = all.data_ptr<std::int64_t>();
  return capability<Capturable>(model)->had_room({first, first + all.numel()}, input.room);
}

/// The operations of a training step if they are known (Capturable).
inline std::optional<std::string> graph_signature_of(const LanguageModel& model) {
  const auto* captured = capability<Capturable>(model);
  return captured != nullptr ? captured->graph_signature() : std::nullopt;
}

}  // namespace xlm
