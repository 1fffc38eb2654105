// Common parts of reading corpora.
#include "datasets/corpora/reading.h"

#include <utility>

#include <fmt/format.h>

#include "base/error.h"

namespace xlm {
bool for_each_block_until(const TextFile& file, bool strict, const std::function<bool(std::string_view block)>& each,
                          LineEnds line_ends) {
  constexpr std::size_t kBlockBytes = std::size_t{256} << 10;  // what a core's cache holds
  constexpr std::size_t kFirstBytes = std::size_t{64} << 10;
  StrictUtf8 check(file.label);
  UnixLineEnds unix_ends;
  std::string buffer(kBlockBytes, '\0');
  std::size_t filled = 0;
  while (filled < kFirstBytes) {
    const std::size_t count = file.read(buffer.data() + filled, buffer.size() - filled);
    if (count == 0) break;
    filled += count;
  }
  while (filled > 0) {
    const std::string_view block = std::string_view(buffer).substr(0, filled);
    if (strict) check.write(block);
    if (!each(line_ends == LineEnds::kUnix ? unix_ends.write(block) : block)) break;
    filled = file.read(buffer.data(), buffer.size());
  }
  if (strict && filled == 0) check.finish();
  return unix_ends.changed();
}

void for_each_block(const TextFile& file, const std::function<void(std::string_view block)>& each, LineEnds line_ends) {
  const auto go_on = [&](std::string_view block) {
    each(block);
    return true;
  };
  for_each_block_until(file, false, go_on, line_ends);
}

std::string_view UnixLineEnds::write(std::string_view block) {
  const bool ended = std::exchange(after_return_, block.empty() ? after_return_ : block.ends_with('\r'));
  if (ended && block.starts_with('\n')) block.remove_prefix(1);
  if (block.find('\r') == std::string_view::npos) return block;
  changed_ = true;
  clean_.clear();
  for (std::size_t end = 0; (end = block.find('\r')) != std::string_view::npos;) {
    clean_.append(block, 0, end);
    clean_ += '\n';
    block.remove_prefix(end + 1);
    if (block.starts_with('\n')) block.remove_prefix(1);
  }
  return clean_ += block;
}

void StrictUtf8::write(std::string_view bytes) {
  repair_.write_or_pass(bytes, scratch_);
  check();
}

void StrictUtf8::finish() {
  repair_.finish(scratch_);
  check();
}

void StrictUtf8::check() const {
  if (repair_.replaced() == 0) return;
  throw DataError(
      fmt::format("{}: invalid UTF-8 at byte {}\nrepair the file, or leave --strict out: then it becomes "
                  "U+FFFD",
                  label_, repair_.first_replaced()));
}

void PrintedRows::take(std::string_view row, const std::string& label) {
  constexpr std::size_t kShownBytes = 40;
  ++rows_;
  if (!is_printed_bytes(row)) return;
  if (printed_++ == 0) example_ = row.substr(0, kShownBytes);
  if (rows_ == 1) finish(label);
}

void PrintedRows::finish(const std::string& label) const {
  constexpr std::int64_t kFew = 100;
  if (printed_ * kFew <= rows_) return;
  throw DataError(
      fmt::format("{}: the rows are the printed form of bytes, not their text: {}…\ndecode them in the program that "
                  "makes the file: "
                  "bytes.decode('utf-8')",
                  label, example_));
}

void set_thrown_away(const ForeignLetters& foreign, const Language* language, CleanText& text) {
  text.set_thrown_away({.lost = foreign.lost,
                        .kept = foreign.kept,
                        .usual = language == nullptr ? kUsualForeign : language->usual_foreign,
                        .examples = foreign.examples});
}

void check_single(const TextFile& file, std::string_view corpus) {
  if (file.first) return;
  throw DataError(fmt::format("{} holds more than one file (now: {}), and {} is one\nunpack it and name the right one",
                              file.source.path.string(), file.label, corpus));
}

}  // namespace xlm
