// Formulas, by muParser.
#include "results/store/formula.h"

#include <cmath>
#include <deque>

#include <fmt/format.h>
#include <muParser.h>

#include "base/error.h"
#include "base/text.h"
#include "base/words.h"

namespace xlm {
namespace {

constexpr const char* kNameSigns = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";

}  // namespace

struct Formula::Parts {
  std::string text;  // as it was written
  std::vector<std::string> columns;
  std::deque<double> values;  // which muParser reads; they stay where they are
  mutable mu::Parser parser;

  UsageError wrong(const std::string& what) const {
    return UsageError(fmt::format("the formula '{}': {}", text, what));
  }

  double* variable(const std::string& column) {
    columns.push_back(column);
    return &values.emplace_back(0);
  }

  /// Names in braces become names of ours; muParser finds the others.
  std::string without_braces(std::string_view formula) {
    std::string out;
    while (!formula.empty()) {
      const std::size_t open = formula.find('{');
      out += formula.substr(0, open);
      if (open == std::string_view::npos) break;
      const std::size_t close = open + split_words(formula.substr(open), '}').front().size();
      if (close == formula.size()) throw wrong("a brace is not closed");
      const std::string variable_name = fmt::format("_{}", columns.size());
      parser.DefineVar(variable_name, variable(std::string(trim(formula.substr(open + 1, close - open - 1)))));
      out += variable_name;
      formula.remove_prefix(close + 1);
    }
    return out;
  }
};

namespace {

/// muParser would give a column a value without a word.
bool assigns(std::string_view formula) {
  for (std::size_t i = formula.find('='); i != std::string_view::npos; i = formula.find('=', i + 1)) {
    const bool compares = i > 0 && std::string_view("=!<>").find(formula[i - 1]) != std::string_view::npos;
    if (!compares && formula.substr(i, 2) != "==") return true;
  }
  return false;
}

}  // namespace

Formula::Formula(std::string_view name) : parts_(std::make_unique<Parts>()) {
  constexpr std::size_t kMaxBytes = 10'000;  // muParser's time grows with the square of the length
  if (name.size() > kMaxBytes) {
    throw UsageError(fmt::format("a formula of {} bytes begins with {}…\nat most {} are read: compute it elsewhere",
                                 name.size(), printable(name.substr(0, 40)), kMaxBytes));
  }
  parts_->text = std::string(name.substr(1));
  parts_->parser.DefineNameChars(kNameSigns);
  try {
    const std::string formula = parts_->without_braces(parts_->text);
    if (assigns(formula)) throw parts_->wrong("a single = compares nothing: write ==");
    parts_->parser.SetVarFactory(
        [](const char* column, void* parts) { return static_cast<Parts*>(parts)->variable(column); }, parts_.get());
    parts_->parser.SetExpr(formula);
    int values = 0;
    parts_->parser.Eval(values);
    if (values != 1) throw parts_->wrong("it has two values, with a comma between them");
  } catch (const mu::ParserError& error) {
    const bool is_cut = error.GetCode() == mu::ecINTERNAL_ERROR;  // what muParser says of a sign alone
    throw parts_->wrong(is_cut ? "a sign in it has no value" : error.GetMsg());
  }
  if (parts_->columns.empty()) throw parts_->wrong("it names no column");
}

Formula::~Formula() = default;
Formula::Formula(Formula&&) noexcept = default;
Formula& Formula::operator=(Formula&&) noexcept = default;

const std::vector<std::string>& Formula::columns() const { return parts_->columns; }

std::optional<double> Formula::value(const std::vector<double>& of_columns) const {
  for (std::size_t i = 0; i < of_columns.size(); ++i) parts_->values[i] = of_columns[i];
  const double value = parts_->parser.Eval();
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::vector<std::string> columns_behind(const std::string& column) {
  return is_formula(column) ? Formula(column).columns() : std::vector<std::string>{column};
}

}  // namespace xlm
