// What a try may cost, and what it has cost.
#pragma once

#include <cstdint>
#include <limits>
#include <set>
#include <string>

#include "base/files.h"
#include "base/json.h"

namespace xlm {

/// What runs cost.
struct TryCost {
  std::int64_t runs = 0;
  double seconds = 0;  // in which workers had them
  double flops = 0;    // of training, as far as runs say them
  double tokens = 0;   // likewise

  TryCost& operator+=(const TryCost& other);
};

/// The cost of those runs of a folder that were made since a time.
TryCost cost_since(const std::set<fs::path>& run_folders, double time);

Json to_json(const TryCost& cost);
TryCost cost_from_json(const Json& json);

/// "20min", "8runs", "1e15flops", "5e6tokens": one of them.
class TryBudget {
 public:
  TryBudget() = default;
  /// Throws UsageError. `option` names it in messages.
  TryBudget(const std::string& text, const std::string& option);

  bool is_limited() const { return !text_.empty(); }
  bool is_spent(const TryCost& cost) const;
  /// Whether so many more runs fit, as far as their number says.
  bool has_room_for(std::int64_t runs, const TryCost& cost) const;
  /// Whether runs have ended, and none of them says what the budget is in.
  bool is_unmeasured(const TryCost& cost) const;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::string unit_;
  double most_ = std::numeric_limits<double>::infinity();
};

}  // namespace xlm
