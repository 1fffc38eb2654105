// In libxlm_parquet.so: writes a table as a Parquet file with Arrow.
#include <cmath>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include <arrow/api.h>
#include <arrow/io/interfaces.h>
#include <fmt/format.h>
#include <parquet/arrow/writer.h>
#include <parquet/exception.h>

#include "base/error.h"
#include "results/exports/export_table.h"

namespace xlm {
namespace {

constexpr std::int64_t kRowsOfGroup = 1 << 16;
constexpr double kMicroseconds = 1e6;

/// Arrow's stream into a file that appears whole. Arrow knows no exceptions, so the first one is kept for the caller.
class AtomicStream : public arrow::io::OutputStream {
 public:
  explicit AtomicStream(const fs::path& path) : file_(path) {}

  arrow::Status Write(const void* data, std::int64_t bytes) override {
    try {
      file_.write(data, static_cast<std::size_t>(bytes));
      return arrow::Status::OK();
    } catch (const std::exception& error) {
      failure_ = std::current_exception();
      return arrow::Status::IOError(error.what());
    }
  }
  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  arrow::Result<std::int64_t> Tell() const override { return static_cast<std::int64_t>(file_.size()); }
  bool closed() const override { return closed_; }

  void commit() { file_.commit(); }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  AtomicFile file_;
  std::exception_ptr failure_;
  bool closed_ = false;
};

std::shared_ptr<arrow::DataType> arrow_type(ExportType type) {
  switch (type) {
    case ExportType::kInteger:
      return arrow::int64();
    case ExportType::kReal:
      return arrow::float64();
    case ExportType::kTime:
      return arrow::timestamp(arrow::TimeUnit::MICRO, "UTC");
    case ExportType::kBoolean:
      return arrow::boolean();
    case ExportType::kText:
      break;
  }
  return arrow::utf8();
}

// The store's functions for values are in the program, not in this library.
std::string plain_text(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return fmt::to_string(*whole);
  if (const auto* holds = std::get_if<bool>(&value)) return *holds ? "true" : "false";
  return fmt::to_string(std::get<double>(value));
}

double real_of(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  return std::get<double>(value);
}

class ParquetWriter : public ExportWriter {
 public:
  ParquetWriter(const fs::path& file, std::vector<ExportColumn> columns)
      : name_(file.string()), columns_(std::move(columns)), stream_(std::make_shared<AtomicStream>(file)) {
    guard([&] {
      arrow::FieldVector fields;
      for (const ExportColumn& column : columns_) fields.push_back(arrow::field(column.name, arrow_type(column.type)));
      const auto schema = arrow::schema(fields);
      builder_ = take(arrow::RecordBatchBuilder::Make(schema, arrow::system_memory_pool()));
      const auto properties = parquet::WriterProperties::Builder().compression(parquet::Compression::SNAPPY)->build();
      // pandas reads types such as the time zone from an Arrow schema.
      const auto arrow_properties = parquet::ArrowWriterProperties::Builder().store_schema()->build();
      writer_ = take(parquet::arrow::FileWriter::Open(*schema, arrow::system_memory_pool(), stream_, properties,
                                                      arrow_properties));
    });
  }

  void add(const std::vector<Value>& row) override {
    guard([&] {
      for (std::size_t i = 0; i < columns_.size(); ++i) append(static_cast<int>(i), row[i]);
      if (++rows_ == kRowsOfGroup) flush();
    });
  }

  void finish() override {
    guard([&] {
      flush();
      check(writer_->Close());
    });
    stream_->commit();
  }

 private:
  template <class Builder>
  Builder& builder(int column) {
    return *builder_->GetFieldAs<Builder>(column);
  }

  void append(int column, const Value& value) {
    if (is_missing(value)) {
      check(builder_->GetField(column)->AppendNull());
      return;
    }
    switch (columns_[static_cast<std::size_t>(column)].type) {
      case ExportType::kInteger:
        check(builder<arrow::Int64Builder>(column).Append(std::get<std::int64_t>(value)));
        break;
      case ExportType::kReal:
        check(builder<arrow::DoubleBuilder>(column).Append(real_of(value)));
        break;
      case ExportType::kTime:
        check(builder<arrow::TimestampBuilder>(column).Append(std::llround(real_of(value) * kMicroseconds)));
        break;
      case ExportType::kBoolean:
        check(builder<arrow::BooleanBuilder>(column).Append(std::get<bool>(value)));
        break;
      case ExportType::kText:
        check(builder<arrow::StringBuilder>(column).Append(plain_text(value)));
        break;
    }
  }

  void flush() {
    if (rows_ == 0) return;
    const std::shared_ptr<arrow::RecordBatch> batch = take(builder_->Flush());
    check(writer_->WriteTable(*take(arrow::Table::FromRecordBatches({batch})), rows_));
    rows_ = 0;
  }

  void check(const arrow::Status& status) const {
    if (status.ok()) return;
    stream_->rethrow();
    if (status.IsOutOfMemory()) throw ResourceError("out of memory while writing " + name_);
    throw Error(fmt::format("cannot write {}: {}", name_, status.message()));
  }

  template <class Made>
  Made take(arrow::Result<Made> result) const {
    check(result.status());
    return std::move(result).ValueUnsafe();
  }

  template <class Work>
  void guard(const Work& work) const {
    try {
      work();
    } catch (const parquet::ParquetException& error) {
      stream_->rethrow();
      throw Error(fmt::format("cannot write {}: {}", name_, error.what()));
    }
  }

  std::string name_;
  std::vector<ExportColumn> columns_;
  std::shared_ptr<AtomicStream> stream_;
  std::unique_ptr<arrow::RecordBatchBuilder> builder_;
  std::unique_ptr<parquet::arrow::FileWriter> writer_;
  std::int64_t rows_ = 0;
};

}  // namespace
}  // namespace xlm

extern "C" __attribute__((visibility("default"))) xlm::ExportWriter* xlm_parquet_writer(
    const xlm::fs::path& file, const std::vector<xlm::ExportColumn>& columns) {
  return new xlm::ParquetWriter(file, columns);
}
