// The frame of TFRecord files and of TensorBoard's event files: records with checksums.
#pragma once

#include <cstddef>
#include <string_view>

namespace xlm {

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

}  // namespace xlm
