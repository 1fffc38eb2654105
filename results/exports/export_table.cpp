// Writes tables as CSV, and opens the library that writes Parquet.
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
    if (type == ExportType::kTime && number) return iso_time(number).get<std::string>();
    const bool is_real = type == ExportType::kReal && number && std::isfinite(*number);
    return is_real ? json_number(*number) : to_text(value);  // 1.0, so that a reader takes it for a real number
  }

  AtomicFile file_;
  std::vector<ExportColumn> columns_;
};

}  // namespace

std::unique_ptr<ExportWriter> csv_writer(const fs::path& file, const std::vector<ExportColumn>& columns) {
  return std::make_unique<CsvWriter>(file, columns);
}

std::unique_ptr<ExportWriter> parquet_writer(const fs::path& file, const std::vector<ExportColumn>& columns) {
  using Open = ExportWriter* (*)(const fs::path&, const std::vector<ExportColumn>&);
  static const auto open = reinterpret_cast<Open>(library_function("libxlm_parquet.so", "xlm_parquet_writer"));
  return std::unique_ptr<ExportWriter>(open(file, columns));
}

}  // namespace xlm
