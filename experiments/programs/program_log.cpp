// The file to which a program's output goes.
#include "experiments/programs/program_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/sha256.h"
#include "base/text.h"
#include "experiments/programs/file_look.h"

namespace xlm {
namespace {

constexpr std::string_view kLimitReached = "\n[xlm: the limit of this file is reached;";

}  // namespace

ProgramLog::ProgramLog(fs::path file, std::uint64_t part) : file_(std::move(file)), part_(part) {
  open(file_, O_APPEND);
  if (size_ < part_) return;
  in_end_ = true;
  open(end_file(file_), O_APPEND);
}

fs::path ProgramLog::end_file(const fs::path& file) {
  return folder_of(file) / (file.stem().string() + ".end" + file.extension().string());
}

fs::path ProgramLog::older_end_file(const fs::path& file) {
  return folder_of(file) / (file.stem().string() + ".end.1" + file.extension().string());
}

void ProgramLog::open(const fs::path& file, int flags) {
  descriptor_.reset(open_regular(file, O_WRONLY | O_CREAT | flags, "write"));
  struct stat status {};
  size_ = ::fstat(descriptor_.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

void ProgramLog::begin_end() {
  const fs::path end = end_file(file_);
  if (in_end_) {
    std::error_code ignored;
    fs::rename(end, older_end_file(file_), ignored);
  } else {
    append(fmt::format("{} the output goes on in {}, of which the last {} stay]\n", kLimitReached,
                       end.filename().string(), human_bytes(static_cast<double>(part_))));
  }
  in_end_ = true;
  open(end, O_APPEND | O_TRUNC);
}

bool ProgramLog::append(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor_.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      if (failure_.empty()) failure_ = fmt::format("cannot write {}: {}", file_.string(), std::strerror(errno));
      lost_ += text.size();
      return false;
    }
    size_ += static_cast<std::uint64_t>(written);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void ProgramLog::write(std::string_view output) {
  while (!output.empty()) {
    if (size_ >= part_) {
      try {
        begin_end();
      } catch (const Error& error) {
        if (failure_.empty()) failure_ = first_line(error.what());
        lost_ += output.size();
        return;
      }
    }
    if (lost_ > 0) {
      const std::uint64_t lost = lost_;
      lost_ = 0;
      if (!append(fmt::format("\n[xlm: {} bytes of output are missing here: {}]\n", lost, failure_))) {
        lost_ = lost + output.size();
        return;
      }
      continue;
    }
    const std::string_view piece = output.substr(0, std::max<std::uint64_t>(part_ - size_, 1));
    output.remove_prefix(piece.size());
    if (append(piece)) continue;
    lost_ += output.size();
    return;
  }
}

namespace {

constexpr std::uint64_t kKnownOfLog = 256;  // bytes by which a place is known

/// The files of a log from the oldest bytes to the newest.
std::vector<fs::path> files_of_log(const fs::path& file) {
  return {file, ProgramLog::older_end_file(file), ProgramLog::end_file(file)};
}

std::uint64_t size_of_log(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  return error ? 0 : size;
}

std::string bytes_before(const fs::path& file, std::uint64_t offset) {
  const FileLook look(file);
  const std::uint64_t known = std::min(offset, kKnownOfLog);
  return look.is_there() && look.size() >= offset ? look.read(offset - known, known) : "";
}

}  // namespace

Json end_of_log(const fs::path& file, std::uint64_t back) {
  std::error_code ignored;
  const fs::path end = ProgramLog::end_file(file);
  const fs::path last = fs::exists(end, ignored) ? end : file;
  const std::uint64_t size = size_of_log(last);
  const std::uint64_t offset = size - std::min(size, back);
  return {{"in_end", last == end}, {"offset", offset}, {"known", sha256(bytes_before(last, offset))}};
}

Json begin_of_log() { return {{"in_end", false}, {"offset", 0}, {"known", sha256("")}}; }

std::uint64_t bytes_behind(const fs::path& file, const Json& place) {
  std::uint64_t bytes = 0;
  read_log_behind(file, place, [&](std::string_view piece) { bytes += piece.size(); });
  return bytes;
}

void read_log_behind(const fs::path& file, const Json& place, const std::function<void(std::string_view)>& take) {
  const auto offset = place.at("offset").get<std::uint64_t>();
  const std::vector<fs::path> files = files_of_log(file);
  const auto is_place = [&](const fs::path& one) {
    const bool may_be = place.at("in_end").get<bool>() == (one != file);
    return may_be && size_of_log(one) >= offset &&
           sha256(bytes_before(one, offset)) == place.at("known").get<std::string>();
  };
  // A new end may begin as the older one did: the newest file with these bytes is meant.
  const auto found = std::find_if(files.rbegin(), files.rend(), is_place);
  if (found == files.rend()) return;
  for (std::size_t i = static_cast<std::size_t>(files.rend() - found) - 1; i < files.size(); ++i) {
    const FileLook look(files[i]);
    if (!look.is_there()) continue;
    const std::uint64_t begin = files[i] == *found ? offset : 0;
    std::string text = look.read(begin, look.size() - std::min(begin, look.size()));
    if (files[i] == file) text.resize(std::min(text.rfind(kLimitReached), text.size()));
    take(text);
  }
}

}  // namespace xlm
