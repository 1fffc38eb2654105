// Archives for tests, made with libarchive's writer.
#pragma once

#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <archive.h>
#include <archive_entry.h>

#include "base/files.h"
#include "datasets/input/archive.h"

namespace xlm {

/// Writes a file without syncing it to the disk, because tests write thousands. (ext4 syncs a file that is truncated
/// and written again, so an old one is removed first.)
inline fs::path write_quickly(const fs::path& path, std::string_view content) {
  fs::remove(path);
  std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
  return path;
}

struct MadeEntry {
  std::string name;
  std::string content;
  unsigned type = AE_IFREG;
  std::string link;
};

/// `format`: "zip", "ustar", "raw"; `filter`: "", "gzip", "bzip2", "xz", "zstd".
inline fs::path make_archive(const fs::path& path, const std::string& format, const std::string& filter,
                             const std::vector<MadeEntry>& entries) {
  struct archive* out = archive_write_new();
  archive_write_set_format_by_name(out, format.c_str());
  if (!filter.empty()) archive_write_add_filter_by_name(out, filter.c_str());
  archive_write_set_bytes_in_last_block(out, 1);
  if (archive_write_open_filename(out, path.c_str()) != ARCHIVE_OK) throw std::runtime_error(archive_error_string(out));
  for (const MadeEntry& made : entries) {
    struct archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, made.name.c_str());
    archive_entry_set_filetype(entry, made.type);
    archive_entry_set_perm(entry, 0644);
    if (made.type == AE_IFREG) archive_entry_set_size(entry, static_cast<la_int64_t>(made.content.size()));
    if (made.type == AE_IFLNK) archive_entry_set_symlink(entry, made.link.c_str());
    if (archive_write_header(out, entry) != ARCHIVE_OK) throw std::runtime_error(archive_error_string(out));
    if (made.type == AE_IFREG) archive_write_data(out, made.content.data(), made.content.size());
    archive_entry_free(entry);
  }
  archive_write_close(out);
  archive_write_free(out);
  return path;
}

/// Everything in `path`: name and content of each entry.
inline std::map<std::string, std::string> read_all(const fs::path& path, std::int64_t max_unpacked = 0) {
  ArchiveReader reader(path, max_unpacked);
  std::map<std::string, std::string> contents;
  while (const std::optional<std::string> name = reader.next()) {
    std::string& content = contents[*name];
    std::string buffer(777, '\0');  // an odd size, so that pieces end at any place
    while (const std::size_t count = reader.read(buffer.data(), buffer.size())) content.append(buffer, 0, count);
  }
  return contents;
}

}  // namespace xlm
