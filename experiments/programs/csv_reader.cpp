// `csv:`: a table that a program writes, with a header.
#include <algorithm>
#include <array>
#include <fstream>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/lookup.h"
#include "base/text.h"
#include "base/utf8.h"
#include "experiments/programs/lines_reader.h"
#include "experiments/programs/number_text.h"
#include "experiments/programs/quantity_name.h"

namespace xlm {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kStepHeader = "step";
constexpr std::size_t kLongestHeader = 65536;

char separator_of(std::string_view header) {
  for (const char separator : {',', '\t', ';'}) {
    if (header.find(separator) != std::string_view::npos) return separator;
  }
  return ',';
}

/// What tables write where there is no number.
bool is_no_value(std::string_view cell) {
  constexpr std::array<std::string_view, 8> kNone{"NA", "N/A", "None", "NONE", "null", "NULL", "-", "--"};
  return contains(kNone, cell);
}

class CsvReader : public LinesReader {
 public:
  CsvReader(const MetricDescription& description, ProgramRecords& records)
      : LinesReader(description.target, "do not fit the header", true),
        columns_(description.names, records),
        records_(records) {}

  void begin(const Json& position) override {
    const std::optional<std::int64_t> step = begin_file(position);
    if (!position.is_object()) return;
    columns_.set_step(step);
    header_ = position.value("header", std::vector<std::string>());
    separator_ = position.value("separator", std::string(1, separator_)).front();
  }

  /// The last row may lack its line end, as some programs write it; that of a program that was killed may lack digits.
  void finish(bool is_done) override {
    poll();
    is_done_ = is_done;
    LinesReader::finish(is_done);
  }

  Json position() const override {
    Json position = position_with_step(columns_.step());
    position["header"] = header_;
    position["separator"] = std::string(1, separator_);
    return position;
  }

  std::vector<std::string> warnings() const override { return warnings_of(columns_); }

  std::vector<std::string> doubts() const override {
    std::vector<std::string> doubts = doubts_of(columns_);
    for (auto column = header_.begin(); column != header_.end(); ++column) {
      if (std::find(header_.begin(), column, *column) == column) continue;
      doubts.push_back(fmt::format("{} has two columns '{}', of which the last one counts", name(), *column));
    }
    return doubts;
  }

 private:
  void restarted() override {
    LinesReader::restarted();
    header_.clear();
  }

  void line(std::string_view text, std::int64_t number) override {
    if (number == 1 && text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    if (trim(text).empty()) return;
    if (header_.empty()) {
      look_for_header(text, number);
    } else {
      row(text, number);
    }
  }

  bool torn_line(std::string_view text, std::int64_t number) override {
    if (is_done_) line(text, number);
    return is_done_;
  }

  void split_row(std::string_view text) {
    split_csv(text, separator_, cells_);
    for (std::string& cell : cells_) {
      const bool is_ascii = std::ranges::none_of(cell, [](char c) { return (c & 0x80) != 0; });
      if (!is_ascii) cell = repaired_utf8(cell);
    }
    for (std::string& cell : cells_) cell = is_no_value(trim(cell)) ? "" : std::string(trim(cell));
  }

  bool has_column_name() const {
    return std::ranges::any_of(cells_, [&](const std::string& cell) {
      return columns_.has_names() ? columns_.is_named(cell) : cell == kStepHeader;
    });
  }

  bool has_number() const {
    return std::ranges::any_of(cells_, [](const std::string& cell) { return printed_number(cell).has_value(); });
  }

  /// With names it is the first line with one of them. Otherwise it is the first line that is no remark, and a remark
  /// with a step ("# step,loss", as NumPy writes it).
  void look_for_header(std::string_view text, std::int64_t number) {
    const bool is_remark = text.starts_with('#');
    const std::string_view content = trim(text.substr(is_remark ? 1 : 0));
    separator_ = separator_of(content);
    split_row(content);
    if (!has_column_name() && (is_remark || columns_.has_names())) {
      if (!is_remark) pass_over(number);
      return;
    }
    if (has_number() && take_header_of_before()) {
      row(text, number);
    } else if (has_number()) {
      records_.reading({name(), number});
      records_.fault({name(), number}, "a table begins with the names of its columns, and this is none", text);
    } else {
      header_ = cells_;
    }
  }

  /// A program that continues the file of an attempt that was lost does not write its header again.
  bool take_header_of_before() {
    const std::size_t columns = cells_.size();
    std::array<char, kLongestHeader> begin{};
    std::ifstream file(path(), std::ios::binary);
    file.read(begin.data(), begin.size());
    std::string_view left(begin.data(), static_cast<std::size_t>(file.gcount()));
    for (std::string_view line; header_.empty() && !left.empty();
         left.remove_prefix(std::min(left.size(), line.size() + 1))) {
      line = left.substr(0, left.find('\n'));
      if (trim(line).empty() || line.starts_with('#')) continue;
      split_row(line);
      if (has_number() || cells_.size() != columns) return false;
      header_ = cells_;
    }
    return !header_.empty();
  }

  void row(std::string_view text, std::int64_t number) {
    split_row(text);
    if (cells_.size() == header_.size() + 1 && cells_.back().empty()) cells_.pop_back();
    // A program that is started again may write its header again, also with other columns.
    if (cells_ == header_ || (has_column_name() && !has_number())) {
      header_ = cells_;
      return;
    }
    if (cells_.size() != header_.size()) return pass_over(number);
    content_.clear();
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (!cells_[i].empty()) content_ += header_[i] + '=' + cells_[i] + '\n';
    }
    if (content_.empty() || is_repeated(content_)) return;
    const LinePlace place{name(), number};
    columns_.begin_row(place);
    const std::string split = split_of_row();
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (cells_[i].empty()) continue;
      columns_.add(header_[i], {.text = cells_[i], .number = {}}, place, text, columns_.from_row(header_[i], split));
    }
    columns_.end_row(place);
  }

  /// Empty if no column says it.
  std::string split_of_row() const {
    for (const std::string_view column : kSplitColumns) {
      const auto named = std::ranges::find(header_, column);
      if (named == header_.end()) continue;
      const std::string_view split = split_called(cells_[static_cast<std::size_t>(named - header_.begin())]);
      if (!split.empty()) return std::string(split);
    }
    return "";
  }

  ForeignColumns columns_;
  ProgramRecords& records_;
  std::vector<std::string> header_;  // empty: it has not come
  char separator_ = ',';
  std::vector<std::string> cells_;
  std::string content_;  // of a row, without its empty cells
  bool is_done_ = false;
};

}  // namespace

std::unique_ptr<MetricReader> make_csv_reader(const MetricDescription& description, ProgramRecords& records) {
  return std::make_unique<CsvReader>(description, records);
}

}  // namespace xlm
