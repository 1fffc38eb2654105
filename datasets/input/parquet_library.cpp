// libxlm_parquet.so: one column of text of a Parquet file, with Arrow.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <fmt/format.h>
#include <parquet/arrow/reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>

#include "base/error.h"
#include "base/text.h"
#include "datasets/input/parquet.h"

namespace xlm {
namespace {

class ArrowColumn : public ParquetColumn {
 public:
  ArrowColumn(const fs::path& file, const std::string& column, std::int64_t max_unpacked) : source_(file.string()) {
    guard([&] {
      parquet::ReaderProperties properties(arrow::system_memory_pool());
      properties.set_page_checksum_verification(true);
      properties.enable_buffered_stream();  // pages one after the other, not a row group at once
      auto input = take(arrow::io::ReadableFile::Open(source_, arrow::system_memory_pool()));
      auto reader = parquet::ParquetFileReader::Open(std::move(input), properties);
      const int index = reader->metadata()->schema()->ColumnIndex(column);
      check_size(*reader->metadata(), index, max_unpacked);
      rows_ = reader->metadata()->num_rows();
      parquet::ArrowReaderProperties settings(false);
      settings.set_batch_size(kBatchRows);
      settings.set_pre_buffer(false);
      parquet::arrow::FileReaderBuilder builder;
      check(builder.Open(take(arrow::io::ReadableFile::Open(source_, arrow::system_memory_pool())), properties));
      check(builder.memory_pool(arrow::system_memory_pool())->properties(settings)->Build(&reader_));
      batches_ = take(reader_->GetRecordBatchReader(all_row_groups(), {index}));
    });
    if (!is_text(batches_->schema()->field(0)->type()->id())) {
      throw DataError(fmt::format("{}: the column '{}' holds {}, not text", source_, column,
                                  batches_->schema()->field(0)->type()->ToString()));
    }
  }

  bool next(std::string& value) override {
    while (true) {
      while (batch_ != nullptr && row_ < batch_->num_rows()) {
        const arrow::Array& texts = *batch_->column(0);
        const std::int64_t row = row_++;
        ++done_;
        if (texts.IsNull(row)) continue;
        value = view(texts, row);
        return true;
      }
      row_ = 0;
      guard([&] { check(batches_->ReadNext(&batch_)); });
      if (batch_ == nullptr) return false;
    }
  }

  double progress() const override {
    return rows_ == 0 ? 1.0 : static_cast<double>(done_) / static_cast<double>(rows_);
  }

 private:
  static constexpr std::int64_t kBatchRows = 256;

  static bool is_text(arrow::Type::type type) {
    return type == arrow::Type::STRING || type == arrow::Type::LARGE_STRING || type == arrow::Type::BINARY ||
           type == arrow::Type::LARGE_BINARY;
  }

  static std::string_view view(const arrow::Array& texts, std::int64_t row) {
    const auto type = texts.type_id();
    if (type == arrow::Type::STRING || type == arrow::Type::BINARY) {
      return static_cast<const arrow::BinaryArray&>(texts).GetView(row);
    }
    return static_cast<const arrow::LargeBinaryArray&>(texts).GetView(row);
  }

  std::vector<int> all_row_groups() const {
    std::vector<int> groups(static_cast<std::size_t>(reader_->num_row_groups()));
    for (std::size_t i = 0; i < groups.size(); ++i) groups[i] = static_cast<int>(i);
    return groups;
  }

  void check_size(const parquet::FileMetaData& data, int column, std::int64_t max_unpacked) const {
    if (column < 0) {
      std::vector<std::string> names;
      for (int i = 0; i < data.num_columns(); ++i) names.push_back(data.schema()->Column(i)->name());
      throw DataError(
          fmt::format("{} has no column 'text': it has {}\nis it a shard of this corpus?", source_, join(names, ", ")));
    }
    std::int64_t bytes = 0;
    for (int i = 0; i < data.num_row_groups(); ++i) {
      const std::int64_t more = data.RowGroup(i)->ColumnChunk(column)->total_uncompressed_size();
      if (more < 0 || more > max_unpacked - bytes) {
        throw DataError(fmt::format("{} unpacks to more than {}\nif you trust the file, raise --max-unpacked", source_,
                                    human_bytes(static_cast<double>(max_unpacked))));
      }
      bytes += more;
    }
  }

  DataError damaged(const std::string& cause) const {
    return DataError(
        fmt::format("{} is truncated or damaged: {}\nfetch the file again", source_, split(cause, '\n').front()));
  }

  void check(const arrow::Status& status) const {
    if (status.ok()) return;
    if (status.IsOutOfMemory()) throw ResourceError("out of memory while reading " + source_);
    throw damaged(status.message());
  }

  template <class Value>
  Value take(arrow::Result<Value> result) const {
    check(result.status());
    return std::move(result).ValueUnsafe();
  }

  template <class Work>
  void guard(const Work& work) const {
    try {
      work();
    } catch (const parquet::ParquetException& error) {
      throw damaged(error.what());
    }
  }

  std::string source_;
  std::unique_ptr<parquet::arrow::FileReader> reader_;
  std::shared_ptr<arrow::RecordBatchReader> batches_;
  std::shared_ptr<arrow::RecordBatch> batch_;
  std::int64_t row_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t done_ = 0;
};

}  // namespace
}  // namespace xlm

extern "C" __attribute__((visibility("default"))) xlm::ParquetColumn* xlm_open_parquet(const xlm::fs::path& file,
                                                                                       const std::string& column,
                                                                                       std::int64_t max_unpacked) {
  return new xlm::ArrowColumn(file, column, max_unpacked);
}
