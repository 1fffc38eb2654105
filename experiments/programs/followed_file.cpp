// Following a file. What was read is known by its last bytes: a file that does not have them in that place is another
// one, whatever it is called.
#include "experiments/programs/followed_file.h"

#include <algorithm>

#include "base/sha256.h"
#include "experiments/programs/file_look.h"

namespace xlm {
namespace {

constexpr std::size_t kKnownBytes = 256;  // by which what was read is known
constexpr std::size_t kReadAtOnce = std::size_t{1} << 16;

}  // namespace

void FollowedFile::begin(const Json& position) {
  forget();
  const FileLook look(path_);
  if (!look.is_there()) {
    has_handed_on_ = has_lost_lines_ = position.is_object() && position.value("offset", std::uint64_t{0}) > 0;
    return;
  }
  begun_at_ = look.size();
  if (position.is_null()) {
    while (offset_ < begun_at_) {
      const std::string bytes = look.read(offset_, std::min<std::uint64_t>(kReadAtOnce, begun_at_ - offset_));
      if (bytes.empty()) break;
      lines_ += std::ranges::count(bytes, '\n');
      offset_ += bytes.size();
    }
    const std::size_t known = std::min<std::uint64_t>(kKnownBytes, offset_);
    passed_ = look.read(offset_ - known, known);
    return;
  }
  if (position.empty()) return;
  const auto offset = position.at("offset").get<std::uint64_t>();
  const auto known = std::min<std::uint64_t>(position.at("known_bytes").get<std::uint64_t>(), offset);
  const std::string passed = look.read(offset - known, known);
  has_handed_on_ = offset > 0;
  if (passed.size() < known || sha256(passed) != position.at("known").get<std::string>()) {
    has_lost_lines_ = has_handed_on_;
    return;
  }
  offset_ = offset;
  left_at_ = offset;
  lines_ = position.at("lines").get<std::int64_t>();
  passed_ = passed;
}

Json FollowedFile::position() const {
  return {{"offset", offset_}, {"lines", lines_}, {"known_bytes", passed_.size()}, {"known", sha256(passed_)}};
}

void FollowedFile::forget() {
  pending_.clear();
  pending_bytes_ = 0;
  in_quotes_ = false;
  before_ = '\n';
  offset_ = 0;
  lines_ = 0;
  passed_.clear();
  begun_at_ = 0;
}

bool FollowedFile::holds_what_was_read(const FileLook& look) const {
  if (look.size() < read_end()) return false;
  const std::string known = passed_ + pending_.substr(0, kKnownBytes);
  return look.read(offset_ - passed_.size(), known.size()) == known;
}

void FollowedFile::poll(LineUser& user) {
  const FileLook look(path_);
  if (!look.is_there()) return;
  was_seen_ = true;
  if (look.mark() == seen_) return;
  if (!holds_what_was_read(look)) {
    has_lost_lines_ = has_lost_lines_ || has_handed_on_;
    forget();
    user.restarted();
  }
  if (begun_at_ > 0) pass_torn_line(look, user);
  if (begun_at_ == 0) read_up_to(look, look.size(), user);
  seen_ = look.mark();
}

void FollowedFile::poll_to(std::uint64_t end, LineUser& user) {
  const FileLook look(path_);
  if (!look.is_there() || end <= read_end()) return;
  was_seen_ = true;
  begun_at_ = std::min(look.size(), end);
  pass_torn_line(look, user);
}

/// What lay there at the beginning comes first. Its last line may have no end.
void FollowedFile::pass_torn_line(const FileLook& look, LineUser& user) {
  read_up_to(look, std::min(look.size(), begun_at_), user);
  if (pending_bytes_ > 0) {
    const std::string next = look.read(read_end(), 1);
    if (next.empty()) return;  // nothing has come behind it yet
    if (next != "\n" && next != "\r") {
      user.torn_line(pending_, lines_ + 1);
      pass();
    }
  }
  begun_at_ = 0;
}

void FollowedFile::read_up_to(const FileLook& look, std::uint64_t end, LineUser& user) {
  while (read_end() < end) {
    const std::string bytes = look.read(read_end(), std::min<std::uint64_t>(kReadAtOnce, end - read_end()));
    if (bytes.empty()) return;  // it has just become shorter
    take(bytes, user);
  }
}

void FollowedFile::take(std::string_view bytes, LineUser& user) {
  while (!bytes.empty()) {
    const std::size_t end = find_line_end(bytes);
    const std::string_view part = bytes.substr(0, end == std::string_view::npos ? end : end + 1);
    pending_bytes_ += part.size();
    pending_ += part.substr(0, kLongestLine + 2 - std::min(kLongestLine + 2, pending_.size()));
    bytes.remove_prefix(part.size());
    if (end != std::string_view::npos) hand_on(user);
  }
}

/// Quotes count where a cell begins, and up to the next one.
std::size_t FollowedFile::find_line_end(std::string_view bytes) {
  if (!has_quotes_) return bytes.find('\n');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    const char before = std::exchange(before_, c);
    if (c == '"') {
      const bool opens = before == '\n' || before == ',' || before == ';' || before == '\t' || before == '"';
      if (in_quotes_ || opens) in_quotes_ = !in_quotes_;
    } else if (c == '\n' && !in_quotes_) {
      return i;
    }
  }
  return std::string_view::npos;
}

void FollowedFile::hand_on(LineUser& user) {
  has_handed_on_ = true;
  const std::int64_t number = lines_ + 1;
  std::string_view text = pending_;
  lines_ += std::ranges::count(text, '\n');
  if (pending_bytes_ > kLongestLine) {
    if (!text.ends_with('\n')) ++lines_;
    user.long_line(number);
  } else {
    text.remove_suffix(text.ends_with("\r\n") ? 2 : 1);
    user.line(text, number);
  }
  pass();
}

/// The line that was being read lies behind.
void FollowedFile::pass() {
  offset_ += pending_bytes_;
  if (pending_bytes_ > pending_.size()) {
    passed_.clear();  // its end was not kept
  } else if (pending_.size() >= kKnownBytes) {
    passed_.assign(pending_, pending_.size() - kKnownBytes);
  } else {
    passed_ += pending_;
    if (passed_.size() > kKnownBytes) passed_.erase(0, passed_.size() - kKnownBytes);
  }
  pending_.clear();
  pending_bytes_ = 0;
  in_quotes_ = false;
  before_ = '\n';
}

void FollowedFile::finish(LineUser& user) {
  poll(user);
  if (pending_bytes_ == 0) return;
  if (pending_bytes_ > kLongestLine) return user.long_line(lines_ + 1);
  if (user.torn_line(pending_, lines_ + 1)) pass();
}

}  // namespace xlm
