// libarchive behind RAII and exceptions.
#include "datasets/input/libarchive.h"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {

LibArchive::LibArchive(std::string source) : source_(std::move(source)), archive_(archive_read_new()) {
  if (!archive_) throw ResourceError("out of memory while opening " + source_);
}

la_ssize_t LibArchive::give(struct archive* archive, void* self, const void** block) {
  auto* const reader = static_cast<LibArchive*>(self);
  try {
    const std::size_t bytes = reader->stream_->read(reader->block_.data(), reader->block_.size());
    if (bytes > 0) reader->block_bytes_ = bytes;  // the last block stays where it is
    reader->given_ += static_cast<std::int64_t>(bytes);
    *block = reader->block_.data();
    return static_cast<la_ssize_t>(bytes);
  } catch (...) {
    reader->error_ = std::current_exception();
    archive_set_error(archive, EIO, "the input cannot be read");
    return ARCHIVE_FATAL;
  }
}

void LibArchive::open(ByteStream& stream) {
  stream_ = &stream;
  block_.resize(kBlockBytes);
  if (archive_read_open(get(), this, nullptr, &LibArchive::give, nullptr) != ARCHIVE_OK) fail("");
}

void LibArchive::open(const fs::path& file) {
  if (archive_read_open_filename(get(), file.c_str(), kBlockBytes) != ARCHIVE_OK) fail("");
}

struct archive_entry* LibArchive::next_header() {
  struct archive_entry* entry = nullptr;
  int result = ARCHIVE_RETRY;
  while (result == ARCHIVE_RETRY) result = archive_read_next_header(get(), &entry);
  if (result == ARCHIVE_EOF) {
    if (error_) std::rethrow_exception(error_);
    return nullptr;
  }
  if (result != ARCHIVE_OK && result != ARCHIVE_WARN)
    fail("");  // warnings concern names and attributes that are not used
  if (archive_entry_is_encrypted(entry) != 0) {
    throw DataError(fmt::format("{} is encrypted, and passwords are not supported\nunpack it first", source_));
  }
  return entry;
}

std::size_t LibArchive::read(char* buffer, std::size_t bytes, const std::string& entry) {
  la_ssize_t count = ARCHIVE_RETRY;
  while (count == ARCHIVE_RETRY) count = archive_read_data(get(), buffer, bytes);
  if (count < 0) fail(entry);
  return static_cast<std::size_t>(count);
}

bool LibArchive::is_followed_by_bytes() {
  const auto left = static_cast<std::size_t>(given_ - archive_filter_bytes(get(), -1));
  const std::string_view last = std::string_view(block_).substr(0, block_bytes_);
  std::string_view bytes = last.substr(last.size() - std::min(left, last.size()));
  while (bytes.find_first_not_of('\0') == std::string_view::npos) {
    const std::size_t count = stream_->read(block_.data(), block_.size());
    if (count == 0) return false;
    bytes = std::string_view(block_).substr(0, count);
  }
  return true;
}

void LibArchive::fail(const std::string& entry) const {
  if (error_) std::rethrow_exception(error_);
  const char* known = archive_error_string(get());
  const std::string cause = known == nullptr ? "unknown error" : known;
  const std::string place = source_ + (entry.empty() ? "" : fmt::format(": entry {}", entry));
  if (lower_case(cause).find("unsupported") != std::string::npos) {  // a method such as Deflate64
    throw DataError(fmt::format("{} cannot be unpacked here: {}\nunpack it first", place, cause));
  }
  throw DataError(fmt::format("{} is truncated or corrupt: {}\nfetch the file again", place, cause));
}

}  // namespace xlm
