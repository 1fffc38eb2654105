// Writes tables as CSV and as JSON lines, and opens the library that writes Parquet.
#include "results/exports/export_table.h"

#include <cmath>

#include "base/csv.h"
#include "base/json.h"
#include "base/shared_library.h"
#include "base/text.h"

namespace xlm {
namespace {

class CsvWriter : public ExportWriter {
 public:
  CsvWriter(const fs::path& file, std::vector<ExportColumn> columns) : file_(file), columns_(std::move(columns)) {
    std::vector<std::string> names;
    for (const ExportColumn& column : columns_) names.push_back(csv_cell(column.name));
    file_.write(join(names, ",") + "\n");
  }

  void add(const std::vector<Value>& row) override {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) line += ',';
      line += csv_cell(cell(row[i], columns_[i].type));
    }
    file_.write(line + "\n");
  }

  void finish() override { file_.commit(); }

 private:
  static std::string cell(const Value& value, ExportType type) {
    const std::optional<double> number = as_number(value);
    if (type == ExportType::kTime && number) return exact_time(number).get<std::string>();
    const bool is_real = type == ExportType::kReal && number && std::isfinite(*number);
    return is_real ? json_number(*number) : to_text(value);  // 1.0, so that a reader takes it for a real number
  }

  AtomicFile file_;
  std::vector<ExportColumn> columns_;
};

class JsonLinesWriter : public ExportWriter {
 public:
  JsonLinesWriter(const fs::path& file, const std::vector<ExportColumn>& columns) : file_(file) {
    for (const ExportColumn& column : columns) {
      keys_.push_back(json(column.name) + ": ");
      types_.push_back(column.type);
    }
  }

  void add(const std::vector<Value>& row) override {
    std::string line = "{";
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (i > 0) line += ", ";
      line += keys_[i];
      line += cell(row[i], types_[i]);
    }
    file_.write(line + "}\n");
  }

  void finish() override { file_.commit(); }

 private:
  static std::string json(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

  static std::string cell(const Value& value, ExportType type) {
    if (is_missing(value)) return "null";
    if (type == ExportType::kTime) return json(exact_time(as_number(value)));
    if (type == ExportType::kText) return json(to_text(value));
    if (const auto* holds = std::get_if<bool>(&value)) return *holds ? "true" : "false";
    if (const auto* whole = std::get_if<std::int64_t>(&value); whole != nullptr && type == ExportType::kInteger) {
      return std::to_string(*whole);
    }
    const std::optional<double> number = as_number(value);
    if (number && std::isinf(*number)) return json(to_text(value));  // JSON has no number for it
    return number ? json_number(*number) : "null";
  }

  AtomicFile file_;
  std::vector<std::string> keys_;  // as they stand before the values
  std::vector<ExportType> types_;
};

}  // namespace

std::unique_ptr<ExportWriter> json_lines_writer(const fs::path& file, const std::vector<ExportColumn>& columns) {
  return std::make_unique<JsonLinesWriter>(file, columns);
}

std::unique_ptr<ExportWriter> csv_writer(const fs::path& file, const std::vector<ExportColumn>& columns) {
  return std::make_unique<CsvWriter>(file, columns);
}

std::unique_ptr<ExportWriter> parquet_writer(const fs::path& file, const std::vector<ExportColumn>& columns) {
  using Open = ExportWriter* (*)(const fs::path&, const std::vector<ExportColumn>&);
  static const auto open = reinterpret_cast<Open>(library_function("libxlm_parquet.so", "xlm_parquet_writer"));
  return std::unique_ptr<ExportWriter>(open(file, columns));
}

}  // namespace xlm
