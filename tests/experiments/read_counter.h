// Counts how often any process reads a file.
#pragma once

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "base/files.h"

namespace xlm {

/// Counts from its creation on. Reading a file's size or time does not count.
class ReadCounter {
 public:
  explicit ReadCounter(const fs::path& file) : events_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    // Equal consecutive events become one, so this also asks for the openings between the closings.
    EXPECT_GE(::inotify_add_watch(events_, file.c_str(), IN_OPEN | IN_CLOSE_NOWRITE), 0) << file;
  }
  ~ReadCounter() { ::close(events_); }
  ReadCounter(const ReadCounter&) = delete;
  ReadCounter& operator=(const ReadCounter&) = delete;

  std::ptrdiff_t count() {
    std::array<inotify_event, 64> found{};  // those of a file that is watched itself have no name behind them
    for (ssize_t bytes = 0; (bytes = ::read(events_, found.data(), sizeof found)) > 0;) {
      count_ += std::count_if(found.begin(), found.begin() + bytes / static_cast<ssize_t>(sizeof(inotify_event)),
                              [](const inotify_event& event) { return (event.mask & IN_CLOSE_NOWRITE) != 0; });
    }
    return count_;
  }

 private:
  int events_;
  std::ptrdiff_t count_ = 0;
};

}  // namespace xlm
