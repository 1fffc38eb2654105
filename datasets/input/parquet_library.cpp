// libxlm_parquet.so: one text column of a Parquet or Arrow file, read with Arrow.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <arrow/ipc/reader.h>
#include <fmt/format.h>
#include <parquet/arrow/reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>

#include "base/error.h"
#include "base/text.h"
#include "datasets/input/parquet.h"

namespace xlm {
namespace {

/// A column of text in batches of rows.
class ArrowColumn : public ParquetColumn {
 public:
  ArrowColumn(const fs::path& file, std::int64_t max_unpacked) : source_(file.string()), max_unpacked_(max_unpacked) {}

  bool next(std::string& value) override {
    while (true) {
      while (batch_ != nullptr && row_ < batch_->num_rows()) {
        const arrow::Array& texts = *batch_->column(column_);
        ++done_;
        value = view(texts, row_++);
        unpacked_ += static_cast<std::int64_t>(value.size());
        if (unpacked_ > max_unpacked_) throw too_much();  // rows may share one text: in a dictionary, in views
        return true;
      }
      row_ = 0;
      guard([&] { batch_ = next_batch(); });
      if (batch_ == nullptr) return false;
    }
  }

  double progress() const override {
    return rows_ == 0 ? 1.0 : static_cast<double>(done_) / static_cast<double>(rows_);
  }

 protected:
  /// The next rows; null at the end.
  virtual std::shared_ptr<arrow::RecordBatch> next_batch() = 0;

  /// Chooses the column at this place of the batches. Throws DataError if it is not text.
  void choose(int column, const arrow::Schema& schema) {
    column_ = column;
    check_text(*schema.field(column));
  }

  void check_text(const arrow::Field& field) const {
    const arrow::DataType* type = field.type().get();
    if (type->id() == arrow::Type::DICTIONARY) {
      type = static_cast<const arrow::DictionaryType&>(*type).value_type().get();
    }
    if (is_text(type->id())) return;
    const std::string& name = field.name();
    if (arrow::is_list_like(type->id()) || arrow::is_list_view(type->id())) {
      throw DataError(fmt::format(
          "{}: each row of the column '{}' is a list ({}), not a text\njoin each list into one text first, or "
          "name another column with --column",
          source_, name, field.type()->ToString()));
    }
    throw DataError(fmt::format("{}: the column '{}' has the type {}, not text\nname another with --column", source_,
                                name, field.type()->ToString()));
  }

  DataError no_column(const std::string& column, const std::vector<std::string>& names) const {
    return DataError(
        fmt::format("{} has no column '{}': it has {}\nis it a shard of this corpus? name another column with --column",
                    source_, column, join(names, ", ")));
  }

  DataError too_much() const {
    return DataError(fmt::format("{} unpacks to more than {}\nif you trust the file, raise --max-unpacked", source_,
                                 human_bytes(static_cast<double>(max_unpacked_))));
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
  std::int64_t max_unpacked_;
  std::int64_t rows_ = 0;  // of the file

 private:
  /// Writers give the null type to a column that has no value in the whole shard.
  static bool is_text(arrow::Type::type type) {
    return arrow::is_base_binary_like(type) || arrow::is_binary_view_like(type) || type == arrow::Type::NA;
  }

  static std::string_view view(const arrow::Array& texts, std::int64_t row) {
    if (texts.IsNull(row)) return {};
    switch (texts.type_id()) {
      case arrow::Type::DICTIONARY: {
        const auto& words = static_cast<const arrow::DictionaryArray&>(texts);
        return view(*words.dictionary(), words.GetValueIndex(row));
      }
      case arrow::Type::STRING_VIEW:
      case arrow::Type::BINARY_VIEW:
        return static_cast<const arrow::BinaryViewArray&>(texts).GetView(row);
      case arrow::Type::LARGE_STRING:
      case arrow::Type::LARGE_BINARY:
        return static_cast<const arrow::LargeBinaryArray&>(texts).GetView(row);
      default:
        return static_cast<const arrow::BinaryArray&>(texts).GetView(row);
    }
  }

  std::shared_ptr<arrow::RecordBatch> batch_;
  int column_ = 0;
  std::int64_t row_ = 0;
  std::int64_t done_ = 0;
  std::int64_t unpacked_ = 0;
};

class ParquetFileColumn : public ArrowColumn {
 public:
  ParquetFileColumn(const fs::path& file, const std::string& column, std::int64_t max_unpacked)
      : ArrowColumn(file, max_unpacked) {
    guard([&] {
      parquet::ReaderProperties properties(arrow::system_memory_pool());
      properties.set_page_checksum_verification(true);
      properties.enable_buffered_stream();  // pages one after the other, not a whole row group at once
      auto input = take(arrow::io::ReadableFile::Open(source_, arrow::system_memory_pool()));
      auto reader = parquet::ParquetFileReader::Open(std::move(input), properties);
      const parquet::SchemaDescriptor& columns = *reader->metadata()->schema();
      const int index = columns.ColumnIndex(column);
      const int field = columns.group_node()->FieldIndex(column);
      if (index < 0 && field < 0) throw no_column(column, names_of(columns));
      if (index >= 0) check_size(*reader->metadata(), index);
      rows_ = reader->metadata()->num_rows();
      parquet::ArrowReaderProperties settings(false);
      settings.set_batch_size(kBatchRows);
      settings.set_pre_buffer(false);
      parquet::arrow::FileReaderBuilder builder;
      check(builder.Open(take(arrow::io::ReadableFile::Open(source_, arrow::system_memory_pool())), properties));
      check(builder.memory_pool(arrow::system_memory_pool())->properties(settings)->Build(&reader_));
      if (index < 0) {  // a nested field with several columns, such as a list or a struct
        std::shared_ptr<arrow::Schema> schema;
        check(reader_->GetSchema(&schema));
        check_text(*schema->field(field));
      }
      batches_ = take(reader_->GetRecordBatchReader(all_row_groups(), {index}));
    });
    choose(0, *batches_->schema());
  }

 protected:
  std::shared_ptr<arrow::RecordBatch> next_batch() override {
    std::shared_ptr<arrow::RecordBatch> batch;
    check(batches_->ReadNext(&batch));
    return batch;
  }

 private:
  static constexpr std::int64_t kBatchRows = 256;

  std::vector<int> all_row_groups() const {
    std::vector<int> groups(static_cast<std::size_t>(reader_->num_row_groups()));
    for (std::size_t i = 0; i < groups.size(); ++i) groups[i] = static_cast<int>(i);
    return groups;
  }

  static std::vector<std::string> names_of(const parquet::SchemaDescriptor& columns) {
    std::vector<std::string> names;
    for (int i = 0; i < columns.group_node()->field_count(); ++i)
      names.push_back(columns.group_node()->field(i)->name());
    return names;
  }

  void check_size(const parquet::FileMetaData& data, int column) const {
    std::int64_t bytes = 0;
    for (int i = 0; i < data.num_row_groups(); ++i) {
      const std::int64_t more = data.RowGroup(i)->ColumnChunk(column)->total_uncompressed_size();
      if (more < 0 || more > max_unpacked_ - bytes) throw too_much();
      bytes += more;
    }
  }

  std::unique_ptr<parquet::arrow::FileReader> reader_;
  std::shared_ptr<arrow::RecordBatchReader> batches_;
};

/// Arrow's own forms: a stream of batches, or a file with a list of them at its end.
class ArrowFileColumn : public ArrowColumn {
 public:
  ArrowFileColumn(const fs::path& file, const std::string& column, std::int64_t max_unpacked)
      : ArrowColumn(file, max_unpacked) {
    std::shared_ptr<arrow::Schema> schema;
    guard([&] {
      const auto input = take(arrow::io::ReadableFile::Open(source_, arrow::system_memory_pool()));
      bytes_ = take(input->GetSize());
      const auto head = take(input->ReadAt(0, static_cast<std::int64_t>(kArrowFileMagic.size())));
      check(input->Seek(0));
      auto settings = arrow::ipc::IpcReadOptions::Defaults();
      settings.memory_pool = arrow::system_memory_pool();
      if (std::string_view(*head) == kArrowFileMagic) {
        file_ = take(arrow::ipc::RecordBatchFileReader::Open(input, settings));
        schema = file_->schema();
      } else {
        stream_ = take(arrow::ipc::RecordBatchStreamReader::Open(input, settings));
        schema = stream_->schema();
      }
      input_ = input;
    });
    const int index = schema->GetFieldIndex(column);
    if (index < 0) throw no_column(column, schema->field_names());
    choose(index, *schema);
  }

  double progress() const override {
    const auto place = input_->Tell();
    return bytes_ == 0 || !place.ok() ? 1.0 : static_cast<double>(*place) / static_cast<double>(bytes_);
  }

 protected:
  std::shared_ptr<arrow::RecordBatch> next_batch() override {
    std::shared_ptr<arrow::RecordBatch> batch;
    if (stream_) {
      check(stream_->ReadNext(&batch));
    } else if (next_ < file_->num_record_batches()) {
      batch = take(file_->ReadRecordBatch(next_++));
    }
    if (batch) check(batch->ValidateFull());  // offsets of a damaged file may point anywhere
    return batch;
  }

 private:
  std::shared_ptr<arrow::io::ReadableFile> input_;
  std::shared_ptr<arrow::ipc::RecordBatchStreamReader> stream_;
  std::shared_ptr<arrow::ipc::RecordBatchFileReader> file_;
  int next_ = 0;
  std::int64_t bytes_ = 0;
};

}  // namespace
}  // namespace xlm

extern "C" __attribute__((visibility("default"))) xlm::ParquetColumn* xlm_open_parquet(const xlm::fs::path& file,
                                                                                       const std::string& column,
                                                                                       std::int64_t max_unpacked,
                                                                                       bool is_arrow) {
  if (is_arrow) return new xlm::ArrowFileColumn(file, column, max_unpacked);
  return new xlm::ParquetFileColumn(file, column, max_unpacked);
}
