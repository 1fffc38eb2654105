// What the corpora share.
#include "datasets/corpora/reading.h"

#include <cctype>
#include <map>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {
namespace {

/// The words of a name: "wiki40b-train.tfrecord-00000-of-00032" → wiki, b, train, tfrecord, of.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

}  // namespace

std::optional<std::size_t> named_split(const SourceFile& source) {
  static const std::map<std::string, std::size_t, std::less<>> names{
      {"train", 0}, {"validation", 1}, {"valid", 1}, {"dev", 1}, {"test", 2}};
  for (const std::string& word : words_of(source.path.filename().string())) {
    if (const auto found = names.find(word); found != names.end()) return found->second;
  }
  const fs::path path = source.named ? fs::absolute(source.path).parent_path().filename() / "x" : fs::path(source.name);
  for (fs::path folder = path.parent_path(); folder.has_filename(); folder = folder.parent_path()) {
    if (const auto found = names.find(folder.filename().string()); found != names.end()) return found->second;
  }
  return std::nullopt;
}

void for_each_block_until(const TextFile& file, bool strict, const std::function<bool(std::string_view block)>& each) {
  constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
  constexpr std::size_t kFirstBytes = std::size_t{64} << 10;
  StrictUtf8 check(file.label);
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
    if (!each(block)) return;
    filled = file.read(buffer.data(), buffer.size());
  }
  if (strict) check.finish();
}

void for_each_block(const TextFile& file, const std::function<void(std::string_view block)>& each) {
  for_each_block_until(file, false, [&](std::string_view block) {
    each(block);
    return true;
  });
}

void StrictUtf8::write(std::string_view bytes) {
  scratch_.clear();
  repair_.write(bytes, scratch_);
  check();
}

void StrictUtf8::finish() {
  repair_.finish(scratch_);
  check();
}

void StrictUtf8::check() const {
  if (repair_.replaced() == 0) return;
  throw DataError(
      fmt::format("{}: invalid UTF-8 at byte {}\nmend the file, or leave --strict away: then it becomes "
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
  throw DataError(fmt::format(
      "{}: the rows are the printed form of bytes, not their text: {}…\ndecode them where the file is made: "
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
