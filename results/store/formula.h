// Formulas over columns of the store: "train.batch * train.block / step_seconds".
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace xlm {

/// What the name of a column begins with that is a formula over others.
inline constexpr char kFormulaSign = '=';

/// A formula with numbers, columns by name, + − * / ^, comparisons, C ? A : B, and functions (ln, log2, log10, exp,
/// sqrt, abs, min, max, …). A column whose name has other signs than letters, digits, dots and underscores stands in
/// braces: {test.bpc@data.name=pg-19} / test.bpc.
class Formula {
 public:
  /// `name` with its sign. Throws UsageError for what is no formula, with the place of the mistake.
  explicit Formula(std::string_view name);
  ~Formula();
  Formula(Formula&&) noexcept;
  Formula& operator=(Formula&&) noexcept;

  /// The columns that it names, each once.
  const std::vector<std::string>& columns() const;

  /// Its value, given one of each column; nothing if that is no finite number.
  std::optional<double> value(const std::vector<double>& of_columns) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

inline bool is_formula(std::string_view column) { return !column.empty() && column.front() == kFormulaSign; }

/// The columns that a column's value is made of: those of a formula, otherwise itself.
std::vector<std::string> columns_behind(const std::string& column);

}  // namespace xlm
