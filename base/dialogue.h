// A program of the system that answers lines: one line to its standard input, one line from its standard output.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/files.h"

namespace xlm {

class Dialogue {
 public:
  /// Starts a program of PATH, in a separate process group. Its standard error is kept for `errors`. Throws Error if
  /// it cannot be started.
  explicit Dialogue(const std::vector<std::string>& words);
  /// Ends the program: it is killed if it still runs.
  ~Dialogue();
  Dialogue(const Dialogue&) = delete;
  Dialogue& operator=(const Dialogue&) = delete;

  /// Writes `line`, which has no newline in it, and returns the line that the program answers, without its newline.
  /// Throws Error with the last line of its standard error if it ends, or says nothing for `seconds`.
  std::string ask(const std::string& line, double seconds);

  /// What the program has written to its standard error so far.
  std::string errors() const;

 private:
  void send(const std::string& text);
  [[noreturn]] void fail(const std::string& why) const;

  std::string name_;
  pid_t process_ = 0;
  Descriptor channel_;  // its standard input and output
  Descriptor errors_;   // a file without a name
  std::string unread_;
};

}  // namespace xlm
