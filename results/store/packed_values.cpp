// What the store keeps together as one JSON text.
#include "results/store/packed_values.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <type_traits>

namespace xlm {
namespace {

/// A JSON text that grows: what lies between a pair of brackets, with commas. Numbers are the shortest texts that read
/// back the same.
class PackedText {
 public:
  explicit PackedText(char open) : text_(1, open) {}

  /// A separate value: {, [ or a bare one.
  PackedText& next() {
    if (text_.size() > 1) text_ += ',';
    return *this;
  }
  PackedText& operator<<(std::string_view text) {
    text_ += text;
    return *this;
  }
  template <class Number>
  requires std::is_arithmetic_v<Number> PackedText& operator<<(Number number) {
    if constexpr (std::is_floating_point_v<Number>) {  // JSON has no such numbers; SQLite reads too large ones so
      if (std::isnan(number)) return *this << std::string_view("null");
      if (std::isinf(number)) return *this << std::string_view(number > 0 ? "9e999" : "-9e999");
    }
    std::array<char, 32> digits;
    text_.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
    return *this;
  }

  std::string finish(char close) {
    text_ += close;
    return std::move(text_);
  }

 private:
  std::string text_;
};

std::string quoted(const std::string& text) { return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string packed_numbers(const std::map<std::string, double>& numbers) {
  PackedText text('{');
  for (const auto& [name, value] : numbers) text.next() << quoted(name) << ":" << value;
  return text.finish('}');
}

std::string packed_series(const RunSeries& series) {
  PackedText text('{');
  for (const auto& [step, value] : series) text.next() << "\"" << step << "\":" << value;
  return text.finish('}');
}

std::string packed_grid(const RunGrid& grid) {
  PackedText text('[');
  for (std::size_t row = 0; row < grid.rows.size(); ++row) {
    for (std::size_t column = 0; column < grid.rows[row].size(); ++column) {
      const double value = grid.rows[row][column];
      if (!std::isnan(value)) text.next() << "[" << row + 1 << "," << grid.column(column) << "," << value << "]";
    }
  }
  return text.finish(']');
}

std::string packed_trace(const std::vector<std::string>& tokens, const std::vector<double>& values) {
  PackedText text('[');
  for (std::size_t i = 0; i < values.size(); ++i) text.next() << "[" << quoted(tokens[i]) << "," << values[i] << "]";
  return text.finish(']');
}

}  // namespace xlm
