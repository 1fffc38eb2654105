// What the corpora share.
#include "datasets/corpora.h"

#include <fmt/format.h>

#include "base/error.h"

namespace xlm {

void for_each_block(const TextFile& file, const std::function<void(std::string_view block)>& each) {
  constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
  constexpr std::size_t kFirstBytes = std::size_t{64} << 10;
  std::string buffer(kBlockBytes, '\0');
  std::size_t filled = 0;
  while (filled < kFirstBytes) {
    const std::size_t count = file.read(buffer.data() + filled, buffer.size() - filled);
    if (count == 0) break;
    filled += count;
  }
  while (filled > 0) {
    each(std::string_view(buffer).substr(0, filled));
    filled = file.read(buffer.data(), buffer.size());
  }
}

void check_single(const TextFile& file, std::string_view corpus) {
  if (file.first) return;
  throw DataError(fmt::format("{} holds more than one file (now: {}), and {} is one\nunpack it and name the right one",
                              file.source.path.string(), file.label, corpus));
}

}  // namespace xlm
