// A file of lines that a program writes while it is read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "base/json.h"

namespace xlm {

class FileLook;

/// What uses the lines of a FollowedFile. They end with "\n" or "\r\n".
class LineUser {
 public:
  virtual ~LineUser() = default;
  /// Reading begins again at the first line: the file was replaced, or made shorter.
  virtual void restarted() = 0;
  /// A whole line, without its end.
  virtual void line(std::string_view text, std::int64_t number) = 0;
  /// A line without an end behind which nothing comes any more: its writer may have been killed. Returns whether it is
  /// a whole one all the same.
  virtual bool torn_line(std::string_view text, std::int64_t number) = 0;
  /// A line of more than kLongestLine bytes was passed over.
  virtual void long_line(std::int64_t number) = 0;
};

/// Hands on each line once, as soon as it has its end.
class FollowedFile {
 public:
  static constexpr std::size_t kLongestLine = std::size_t{16} << 20;

  /// With `has_quotes` a line end in a quoted cell (RFC 4180) ends no line.
  explicit FollowedFile(fs::path path, bool has_quotes = false) : path_(std::move(path)), has_quotes_(has_quotes) {}

  /// `position` is that of an earlier reader: reading continues there. {}: it begins with the first line. null: it
  /// begins behind the current content. The process that wrote the current content has ended: if the last line has no
  /// end, the next bytes are a new line.
  void begin(const Json& position);
  /// Reads the lines that were appended since. Throws DataError if the file cannot be read.
  void poll(LineUser& user);
  /// The same up to a place where a writer began, whose line before it may have no end.
  void poll_to(std::uint64_t end, LineUser& user);
  /// `poll`, and then the last line, if it has no end. If `torn_line` refuses it, `position` is before it.
  void finish(LineUser& user);

  /// Behind the last line that was handed on.
  Json position() const;
  const fs::path& path() const { return path_; }
  bool was_seen() const { return was_seen_; }
  /// Whether reading continues that of an earlier reader, and nothing has come since.
  bool is_left() const { return left_at_ > 0 && offset_ == left_at_; }
  /// Whether lines that were handed on are not there any more.
  bool has_lost_lines() const { return has_lost_lines_; }

 private:
  bool holds_what_was_read(const FileLook& look) const;
  void forget();
  void pass_torn_line(const FileLook& look, LineUser& user);
  void read_up_to(const FileLook& look, std::uint64_t end, LineUser& user);
  void take(std::string_view bytes, LineUser& user);
  std::size_t find_line_end(std::string_view bytes);
  void hand_on(LineUser& user);
  void pass();
  std::uint64_t read_end() const { return offset_ + pending_bytes_; }

  fs::path path_;
  bool has_quotes_;
  std::string pending_;              // of the line that is being read, up to kLongestLine bytes
  std::uint64_t pending_bytes_ = 0;  // of that line so far
  bool in_quotes_ = false;
  char before_ = '\n';          // the byte before the next one
  std::uint64_t offset_ = 0;    // of the line that is being read
  std::int64_t lines_ = 0;      // before it
  std::string passed_;          // the last bytes before it
  std::uint64_t begun_at_ = 0;  // the file's size at `begin`, until that is passed; then 0
  std::string seen_;            // what tells a file that was not written to since
  bool was_seen_ = false;
  bool has_handed_on_ = false;
  bool has_lost_lines_ = false;
  std::uint64_t left_at_ = 0;  // where an earlier reader has stopped
};

}  // namespace xlm
