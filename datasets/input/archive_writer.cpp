// Writing archives of files.
#include "datasets/input/archive_writer.h"

#include <algorithm>
#include <cerrno>
#include <chrono>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include "base/error.h"

namespace xlm {
namespace {

constexpr ::mode_t kReadable = 0644;

int (*compression_of(const fs::path& file))(struct archive*) {
  const std::string name = file.filename().string();
  if (name.ends_with(".tar")) return archive_write_add_filter_none;
  if (name.ends_with(".tar.gz") || name.ends_with(".tgz")) return archive_write_add_filter_gzip;
  if (name.ends_with(".tar.xz")) return archive_write_add_filter_xz;
  if (name.ends_with(".tar.zst")) return archive_write_add_filter_zstd;
  throw UsageError(fmt::format("{}: an archive's name must end in .tar, .tar.gz, .tar.xz or .tar.zst", file.string()));
}

std::time_t seconds_of(fs::file_time_type time) {
  const auto age = std::chrono::duration_cast<std::chrono::seconds>(fs::file_time_type::clock::now() - time);
  return std::chrono::system_clock::to_time_t(std::chrono::system_clock::now() - age);
}

}  // namespace

void ArchiveWriter::Free::operator()(struct archive* archive) const { archive_write_free(archive); }

ArchiveWriter::ArchiveWriter(const fs::path& file)
    : add_filter_(compression_of(file)), path_(file), file_(file), archive_(archive_write_new()) {
  if (!archive_) throw ResourceError("out of memory while writing " + file.string());
  require(archive_write_set_format_pax_restricted(archive_.get()));
  require(add_filter_(archive_.get()));
  require(archive_write_set_bytes_in_last_block(archive_.get(), 1));
  require(archive_write_open(archive_.get(), this, nullptr, &ArchiveWriter::take, nullptr));
}

/// Without `commit` the last blocks are discarded. They are still produced, because libarchive 3.6 leaks memory of an
/// archive that failed.
ArchiveWriter::~ArchiveWriter() { discards_ = true; }

std::ptrdiff_t ArchiveWriter::take(struct archive* archive, void* self, const void* data, std::size_t bytes) {
  auto* const writer = static_cast<ArchiveWriter*>(self);
  if (writer->discards_) return static_cast<std::ptrdiff_t>(bytes);
  try {
    writer->file_.write(data, bytes);
    return static_cast<std::ptrdiff_t>(bytes);
  } catch (...) {
    writer->error_ = std::current_exception();
    archive_set_error(archive, EIO, "the archive cannot be written");
    return -1;
  }
}

void ArchiveWriter::require(int result) {
  if (result == ARCHIVE_OK || result == ARCHIVE_WARN) return;
  if (error_) std::rethrow_exception(error_);
  const char* cause = archive_error_string(archive_.get());
  throw Error(fmt::format("cannot write {}: {}", path_.string(), cause == nullptr ? "unknown error" : cause));
}

void ArchiveWriter::add(const std::string& name, std::string_view content, fs::file_time_type changed) {
  const std::unique_ptr<struct archive_entry, decltype(&archive_entry_free)> entry(archive_entry_new(),
                                                                                   &archive_entry_free);
  archive_entry_set_pathname_utf8(entry.get(), name.c_str());
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), kReadable);
  archive_entry_set_mtime(entry.get(), seconds_of(changed), 0);
  require(archive_write_header(archive_.get(), entry.get()));
  while (!content.empty()) {
    const la_ssize_t count = archive_write_data(archive_.get(), content.data(), content.size());
    if (count <= 0) require(ARCHIVE_FATAL);
    content.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::uint64_t ArchiveWriter::commit() {
  require(archive_write_close(archive_.get()));
  const std::uint64_t bytes = file_.size();
  file_.commit();
  return bytes;
}

}  // namespace xlm
