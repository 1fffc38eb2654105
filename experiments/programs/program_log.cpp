// The file to which a program's output goes.
#include "experiments/programs/program_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {

ProgramLog::ProgramLog(fs::path file, std::uint64_t part) : file_(std::move(file)), part_(part) {
  open(file_, O_APPEND);
  if (size_ < part_) return;
  in_end_ = true;
  open(end_file(file_), O_APPEND);
}

ProgramLog::~ProgramLog() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

fs::path ProgramLog::end_file(const fs::path& file) {
  return folder_of(file) / (file.stem().string() + ".end" + file.extension().string());
}

fs::path ProgramLog::older_end_file(const fs::path& file) {
  return folder_of(file) / (file.stem().string() + ".end.1" + file.extension().string());
}

void ProgramLog::open(const fs::path& file, int flags) {
  const int opened = open_regular(file, O_WRONLY | O_CREAT | flags, "write");
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = opened;
  struct stat status {};
  size_ = ::fstat(descriptor_, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

void ProgramLog::begin_end() {
  const fs::path end = end_file(file_);
  if (in_end_) {
    std::error_code ignored;
    fs::rename(end, older_end_file(file_), ignored);
  } else {
    append(
        fmt::format("\n[xlm: the limit of this file is reached; the output goes on in {}, of which the last {} stay]\n",
                    end.filename().string(), human_bytes(static_cast<double>(part_))));
  }
  in_end_ = true;
  open(end, O_APPEND | O_TRUNC);
}

bool ProgramLog::append(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
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

}  // namespace xlm
