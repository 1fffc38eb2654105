// Copies of files that another program may be writing.
#include "experiments/runs/file_copy.h"

#include <string>
#include <system_error>

namespace xlm {

void copy_whole_file(const fs::path& from, const fs::path& to) {
  constexpr std::size_t kBytesAtOnce = std::size_t{1} << 20;
  InputFile in(from);
  AtomicFile out(to);
  std::string buffer(kBytesAtOnce, '\0');
  while (const std::size_t bytes = in.read(buffer.data(), buffer.size())) out.write(buffer.data(), bytes);
  out.commit();
  std::error_code error;
  const fs::file_status status = fs::status(from, error);
  if (!error) fs::permissions(to, status.permissions(), error);
  if (error) throw_file_error("write", to, error.value());
}

void copy_folder(const fs::path& from, const fs::path& to) {
  create_folders(to);
  std::error_code error;
  const std::vector<fs::directory_entry> entries = entries_in(from, error);
  if (error) throw_file_error("read the folder", from, error.value());
  for (const fs::directory_entry& entry : entries) {
    const fs::path target = to / entry.path().filename();
    if (entry.is_symlink()) {
      std::error_code ignored;
      fs::remove(target, ignored);
      fs::copy_symlink(entry.path(), target, error);
      if (error) throw_file_error("create", target, error.value());
    } else if (entry.is_directory()) {
      copy_folder(entry.path(), target);
    } else {
      copy_whole_file(entry.path(), target);
    }
  }
  sync_folder(to);
}

}  // namespace xlm
