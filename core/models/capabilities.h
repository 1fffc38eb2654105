// What some models can do beside what every model can. A model also derives from the interfaces that it has; whoever
// needs one asks with capability<T>(model), and a model without it sees nothing of the matter.
//
// B batch, T tokens of a row in one call, V vocabulary.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "base/error.h"
#include "core/models/language_model.h"
#include "datasets/prepared/prepared.h"

namespace xlm {

/// Windows of T tokens; each repeats the last O tokens of the one before and scores its last T − O predictions, the
/// first all (docs/models.md#windows-and-overlap).
struct WindowShape {
  std::int64_t window = 0;
  std::int64_t overlap = 0;
};

/// A text that grows at its end, read by a model that need not read it anew for every token.
class TextReader {
 public:
  virtual ~TextReader() = default;
  /// Reads the [n] tokens that follow, n ≥ 1; the logits [V] of the token after them.
  virtual torch::Tensor read(const torch::Tensor& tokens) = 0;
};

/// Has a text cut into windows that overlap: every model of TextScheme::kWindows. One call of `forward` is one window;
/// without an initial state, windows are independent of each other.
class ReadsWindows {
 public:
  virtual ~ReadsWindows() = default;
  virtual WindowShape windows() const = 0;
};

/// Can read a text token by token and keep what it has computed.
class ReadsIncrementally {
 public:
  virtual ~ReadsIncrementally() = default;
  virtual std::unique_ptr<TextReader> reader() = 0;
};

/// Must know what the symbols are before the first call on real text.
class NeedsVocabulary {
 public:
  virtual ~NeedsVocabulary() = default;
  /// Throws UsageError for a vocabulary that the model's options cannot work with.
  virtual void set_vocabulary(const Vocabulary& vocabulary) = 0;
};

/// Can be taught by a segmentation of the text, as ModelInput::boundaries.
class LearnsFromSegmentation {
 public:
  virtual ~LearnsFromSegmentation() = default;
  /// The tokenizer whose segmentation is wanted; "" where the options ask for none.
  virtual std::string tokenizer() const = 0;
};

/// Pools tokens into groups.
class PoolsTokens {
 public:
  virtual ~PoolsTokens() = default;
  /// Where groups end: [B, T] bool; undefined where the options leave nothing to pool.
  virtual torch::Tensor boundaries(const ModelInput& input) = 0;
};

/// Can say something of single tokens.
class TracesTokens {
 public:
  virtual ~TracesTokens() = default;
  /// Whether `forward` fills ModelOutput::token_values where they are asked for.
  virtual bool has_token_values() const = 0;
};

/// Can say how single heads look back.
class TracesHeads {
 public:
  virtual ~TracesHeads() = default;
  /// How many tokens before a token a head may see. `forward` fills ModelOutput::head_values, so many distances, where
  /// they are asked for.
  virtual std::int64_t head_reach() const = 0;
};

/// Knows which operations a training step makes, beside what the sizes of its arguments decide. Steps of the same
/// operations can be recorded and replayed.
class Capturable {
 public:
  virtual ~Capturable() = default;
  /// Nothing where values that are read from the device decide.
  virtual std::optional<std::string> graph_signature() const = 0;
  /// From now on sizes that follow from parameters change as seldom as they can, so that a recording serves longer.
  virtual void hold_sizes() {}
  /// The sizes that are held, for checkpoints, and taken back: they follow from all parameters since they are held.
  virtual std::vector<std::int64_t> held_sizes() const { return {}; }
  virtual void set_held_sizes(const std::vector<std::int64_t>& /*sizes*/) {}
};

/// Extends another model, whose weights training may start from.
class ExtendsAnother {
 public:
  virtual ~ExtendsAnother() = default;
  /// Whether this parameter is what the other model is extended by, so that its weights may lack it.
  virtual bool is_addition(const std::string& name) const = 0;
};

/// Shares its folders of weights with other programs.
class SharesWeightFiles {
 public:
  virtual ~SharesWeightFiles() = default;
  /// What other programs call this parameter. It is read by either name.
  virtual std::string stored_name(const std::string& name) const = 0;
  /// The parameter that a tensor of this name, no parameter itself, repeats in files of other programs; "": none.
  virtual std::string repeated_parameter(const std::string& name) const = 0;
  /// Whether the parameter has a row for each symbol. Files of other programs may have more of them.
  virtual bool has_rows_of_symbols(const std::string& name) const = 0;
  /// What other programs want to find beside the weights: contents by file name.
  virtual std::map<std::string, std::string> companion_files() const = 0;
};

/// The model as a T; null where it is none.
template <class T>
T* capability(LanguageModel& model) {
  return dynamic_cast<T*>(&model);
}
template <class T>
const T* capability(const LanguageModel& model) {
  return dynamic_cast<const T*>(&model);
}

/// How a model of TextScheme::kWindows cuts its text. Throws Error for one that does not derive from ReadsWindows.
inline WindowShape windows_of(const LanguageModel& model) {
  const auto* reads = capability<ReadsWindows>(model);
  if (reads == nullptr)
    throw Error("a model of TextScheme::kWindows must say its windows: derive it from ReadsWindows");
  return reads->windows();
}

/// The tokenizer whose segmentation of the text a model wants to learn from; "": none.
inline std::string tokenizer_of(const LanguageModel& model) {
  const auto* learns = capability<LearnsFromSegmentation>(model);
  return learns != nullptr ? learns->tokenizer() : "";
}

/// The operations of a training step where they are known (Capturable).
inline std::optional<std::string> graph_signature_of(const LanguageModel& model) {
  const auto* captured = capability<Capturable>(model);
  return captured != nullptr ? captured->graph_signature() : std::nullopt;
}

}  // namespace xlm
