// The frame of TFRecord files and of TensorBoard's event files: records with checksums.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace xlm {

/// Up to `bytes` bytes into `buffer`; 0 at the end.
using ReadBytes = std::function<std::size_t(char* buffer, std::size_t bytes)>;

/// The number of bytes of a TFRecord file before the first record's content.
constexpr std::size_t kTfRecordHeaderBytes = 12;

/// Whether `head`, the first bytes of a file, has the right checksum of the first record's length.
bool is_tf_record(std::string_view head);

/// What a growing file has at the place of its next record.
struct TfRecordPiece {
  enum class Kind { kWhole, kIncomplete, kDamaged };
  Kind kind = Kind::kIncomplete;
  std::string_view content;  // kWhole: a view into the bytes
  std::size_t bytes = 0;     // kWhole: of the record with its frame; kIncomplete: that are needed to tell more
};

/// The record at the start of `bytes`. Damaged is one with a wrong checksum, and one of more than 256 MiB.
TfRecordPiece take_tf_record(std::string_view bytes);

/// Records of a complete file, one after the other. Memory: one record.
class TfRecordReader {
 public:
  /// `source` names the file in errors.
  TfRecordReader(ReadBytes read, std::string source) : read_(std::move(read)), source_(std::move(source)) {}

  /// The next record, valid until the next call; nullopt at the end. Throws DataError if a checksum is wrong, if the
  /// file ends inside a record, and for a record of more than 256 MiB.
  std::optional<std::string_view> next();

 private:
  bool fill(char* buffer, std::size_t bytes, bool may_end);

  ReadBytes read_;
  std::string source_;
  std::string record_;
  std::size_t offset_ = 0;
  std::size_t count_ = 0;
};

}  // namespace xlm
