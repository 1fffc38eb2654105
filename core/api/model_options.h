// The options of a model of any type: all that the program outside of core knows about models.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "core/api/options.h"
#include "core/api/text_scheme.h"

namespace xlm {

/// What is wrong with options that are each in range: the key below `model`, and the message.
using OptionProblem = std::pair<std::string, std::string>;

// What only some models' options can do. The struct derives from its abilities, and then must have the members that are
// named here.

/// Can be made from another program's model folder. `std::string pretrained`, an option of that name, is the folder, ""
/// for none. `adopt(const Json& config, const std::string& source)` takes the shape from its config.json. It throws
/// DataError with `source` if that is not such a model, UsageError if an option contradicts it.
struct FromPretrained {};

/// Its weights may lie in a folder of another program, without a configuration of ours. `kForeignType` is the
/// model_type of its config.json. `check_foreign(const Json& config, const std::string& source) const` throws
/// DataError, naming `source`, if that model computes something else than this one.
struct WithForeignWeights {};

/// Reads a text in windows that overlap. `window` and `overlap` are T and O; `bool recurrent() const` says whether
/// something is carried from window to window.
struct WithWindows {};

/// Has options whose defaults follow from others: `complete(TrainOptions& train)` fills them in.
struct WithDerivedOptions {};

/// Has requirements on the options of training: `problem_with(const TrainOptions& train) const` returns what is wrong.
struct WithTrainingRules {};

/// The same for those of evaluation: `problem_with(const EvalOptions& eval) const`.
struct WithEvaluationRules {};

/// Every model's options: a copyable struct with a name for `model.type`, a summary, the scheme of its text, a list of
/// its options, the paper's other settings, and what is wrong with the values together. `smallest` returns the smallest
/// models that together take every value of every choice; the tests of all models use them.
template <class Own>
concept OptionsOfAModel = requires(Own own, const Own constant, OptionVisitor& visitor, OptimizerOptions& optimizer,
                                   TrainOptions& train, EvalOptions& eval) {
  { Own::kType } -> std::convertible_to<std::string_view>;
  { Own::kSummary } -> std::convertible_to<std::string_view>;
  { Own::kScheme } -> std::convertible_to<TextScheme>;
  own.visit(visitor);
  Own::paper_defaults(optimizer, train, eval);
  { constant.problem() } -> std::same_as<std::optional<OptionProblem>>;
  { Own::smallest() } -> std::same_as<std::vector<Own>>;
};

/// The options of one model. Code that knows the model gets its own struct with get<…>().
class ModelOptions {
 public:
  /// Those of the first model in the list.
  ModelOptions();
  template <OptionsOfAModel Own>
  ModelOptions(Own own) : held_(std::make_unique<Held<Own>>(std::move(own))) {}
  ModelOptions(const ModelOptions& other) : held_(other.held_->copy()) {}
  ModelOptions(ModelOptions&& other) noexcept = default;
  ModelOptions& operator=(const ModelOptions& other) {
    held_ = other.held_->copy();
    return *this;
  }
  ModelOptions& operator=(ModelOptions&& other) noexcept = default;
  ~ModelOptions() = default;

  /// The value of `model.type`, and the model in a sentence.
  std::string type() const { return std::string(held_->type()); }
  std::string summary() const { return std::string(held_->summary()); }
  /// How its text is fed.
  TextScheme scheme() const { return held_->scheme(); }
  void visit(OptionVisitor& visitor) { held_->visit(visitor); }
  void paper_defaults(OptimizerOptions& optimizer, TrainOptions& train, EvalOptions& eval) const {
    held_->paper_defaults(optimizer, train, eval);
  }
  /// Fills in what follows from other options.
  void complete(TrainOptions& train) { held_->complete(train); }
  /// What is wrong with the values together, with those of training, and with those of evaluation.
  std::optional<OptionProblem> problem() const { return held_->problem(); }
  std::optional<OptionProblem> problem_with(const TrainOptions& train) const { return held_->problem_with(train); }
  std::optional<OptionProblem> problem_with(const EvalOptions& eval) const { return held_->problem_with(eval); }
  /// Other options of the same model: see OptionsOfAModel.
  std::vector<ModelOptions> smallest() const { return held_->smallest(); }

  /// The folder of another program's model from which this one is made; nullopt if the model has no such option.
  std::optional<std::string> pretrained() const;
  void set_pretrained(const std::string& folder);
  /// Takes the shape from that folder's config.json, read from `source`, as FromPretrained describes.
  void adopt(const Json& config, const std::string& source) { held_->adopt(config, source); }

  /// As WithForeignWeights describes; "" if there is no such folder.
  std::string foreign_type() const { return std::string(held_->foreign_type()); }
  void check_foreign(const Json& config, const std::string& source) const { held_->check_foreign(config, source); }

  /// Sets T and O of a model that reads a text in windows; returns false if it does not.
  bool set_windows(std::int64_t window, std::int64_t overlap) { return held_->set_windows(window, overlap); }
  /// Whether such a model passes state from window to window.
  bool has_window_state() const { return held_->has_window_state(); }

  /// The model's own options; null for another model.
  template <OptionsOfAModel Own>
  Own* get_if() {
    return held_->type() == Own::kType ? &static_cast<Held<Own>&>(*held_).own : nullptr;
  }
  template <OptionsOfAModel Own>
  const Own* get_if() const {
    return held_->type() == Own::kType ? &static_cast<const Held<Own>&>(*held_).own : nullptr;
  }
  /// The same; throws Error for another model.
  template <OptionsOfAModel Own>
  Own& get() {
    if (Own* own = get_if<Own>()) return *own;
    throw Error("these are options of " + type() + ", not of " + std::string(Own::kType));
  }
  template <OptionsOfAModel Own>
  const Own& get() const {
    return const_cast<ModelOptions&>(*this).get<Own>();
  }

 private:
  struct Any {
    virtual ~Any() = default;
    virtual std::unique_ptr<Any> copy() const = 0;
    virtual std::string_view type() const = 0;
    virtual std::string_view summary() const = 0;
    virtual TextScheme scheme() const = 0;
    virtual void visit(OptionVisitor& visitor) = 0;
    virtual void paper_defaults(OptimizerOptions& optimizer, TrainOptions& train, EvalOptions& eval) const = 0;
    virtual void complete(TrainOptions& train) = 0;
    virtual std::optional<OptionProblem> problem() const = 0;
    virtual std::optional<OptionProblem> problem_with(const TrainOptions& train) const = 0;
    virtual std::optional<OptionProblem> problem_with(const EvalOptions& eval) const = 0;
    virtual std::vector<ModelOptions> smallest() const = 0;
    virtual std::string* pretrained() = 0;
    virtual void adopt(const Json& config, const std::string& source) = 0;
    virtual std::string_view foreign_type() const = 0;
    virtual void check_foreign(const Json& config, const std::string& source) const = 0;
    virtual bool set_windows(std::int64_t window, std::int64_t overlap) = 0;
    virtual bool has_window_state() const = 0;
  };

  template <class Own>
  struct Held final : Any {
    explicit Held(Own given) : own(std::move(given)) {}
    template <class Capability>
    static constexpr bool kCan = std::is_base_of_v<Capability, Own>;

    std::unique_ptr<Any> copy() const override { return std::make_unique<Held>(own); }
    std::string_view type() const override { return Own::kType; }
    std::string_view summary() const override { return Own::kSummary; }
    TextScheme scheme() const override { return Own::kScheme; }
    void visit(OptionVisitor& visitor) override { own.visit(visitor); }
    void paper_defaults(OptimizerOptions& optimizer, TrainOptions& train, EvalOptions& eval) const override {
      Own::paper_defaults(optimizer, train, eval);
    }
    void complete(TrainOptions& train) override {
      if constexpr (kCan<WithDerivedOptions>) own.complete(train);
    }
    std::optional<OptionProblem> problem() const override { return own.problem(); }
    std::optional<OptionProblem> problem_with(const TrainOptions& train) const override {
      if constexpr (kCan<WithTrainingRules>) return own.problem_with(train);
      return std::nullopt;
    }
    std::optional<OptionProblem> problem_with(const EvalOptions& eval) const override {
      if constexpr (kCan<WithEvaluationRules>) return own.problem_with(eval);
      return std::nullopt;
    }
    std::vector<ModelOptions> smallest() const override {
      const std::vector<Own> all = Own::smallest();
      return {all.begin(), all.end()};
    }
    std::string* pretrained() override {
      if constexpr (kCan<FromPretrained>) return &own.pretrained;
      return nullptr;
    }
    void adopt(const Json& config, const std::string& source) override {
      if constexpr (kCan<FromPretrained>) own.adopt(config, source);
    }
    std::string_view foreign_type() const override {
      if constexpr (kCan<WithForeignWeights>) return Own::kForeignType;
      return "";
    }
    void check_foreign(const Json& config, const std::string& source) const override {
      if constexpr (kCan<WithForeignWeights>) own.check_foreign(config, source);
    }
    bool set_windows(std::int64_t window, std::int64_t overlap) override {
      if constexpr (kCan<WithWindows>) {
        own.window = window;
        own.overlap = overlap;
      }
      return kCan<WithWindows>;
    }
    bool has_window_state() const override {
      if constexpr (kCan<WithWindows>) return own.recurrent();
      return false;
    }

    Own own;
  };

  std::unique_ptr<Any> held_;
};

}  // namespace xlm
