// The division of a text into training, validation and test, as --split gives it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace xlm {

/// Tokens of training, validation and test, which follow each other from the start of the text.
using SplitSizes = std::array<std::int64_t, 3>;
constexpr std::array<const char*, 3> kSplitNames{"train", "valid", "test"};

/// "TRAIN,VALID,TEST" in tokens, or in shares that add up to 100 %.
class SplitPlan {
 public:
  /// Throws UsageError for any other text.
  explicit SplitPlan(const std::string& text);

  /// Shares are rounded down for validation and test; training gets the rest. Throws UsageError if counts exceed
  /// `tokens`. Smaller counts leave the end of the text unused.
  SplitSizes sizes(std::int64_t tokens) const;

  /// Documents of training, validation and test, of so many: their shares, rounded, but one at least. nullopt for
  /// counts of tokens, and if there are fewer documents than that.
  std::optional<SplitSizes> documents(std::int64_t count) const;

  /// Whether so many documents are enough for each share: a share of 5 % needs 20.
  bool suits(std::int64_t documents) const;

  /// The plan in its normal form: "90%,5%,5%".
  std::string text() const;

 private:
  bool shares_ = false;
  std::array<std::int64_t, 3> parts_{};  // tokens, or millionths of a percent
};

}  // namespace xlm
