// What the corpora share.
#include "datasets/corpora/reading.h"

#include <fmt/format.h>

#include "base/error.h"

namespace xlm {

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

void check_single(const TextFile& file, std::string_view corpus) {
  if (file.first) return;
  throw DataError(fmt::format("{} holds more than one file (now: {}), and {} is one\nunpack it and name the right one",
                              file.source.path.string(), file.label, corpus));
}

}  // namespace xlm
