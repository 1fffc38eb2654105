// Hashes of decoded splits.
#include "datasets/prepared/text_hash.h"

#include <fmt/format.h>

#include "base/sha256.h"
#include "datasets/prepared/prepared.h"
#include "datasets/prepared/verified_files.h"
#include "datasets/tokens/decoder.h"

namespace xlm {
namespace {

std::string hash_of_text(const Split& split, const std::vector<std::string>& symbols) {
  Sha256 hash;
  constexpr std::int64_t kAtOnce = 1 << 16;
  std::vector<std::int64_t> ids(kAtOnce);
  std::string text;
  std::uint64_t bytes = 0;
  std::string begins;  // of documents, in bytes
  std::size_t next = 0;
  for (std::int64_t begin = 0; begin < split.tokens.size(); begin += kAtOnce) {
    const std::int64_t count = std::min(kAtOnce, split.tokens.size() - begin);
    split.tokens.copy(begin, count, ids.data());
    text.clear();
    for (std::int64_t i = 0; i < count; ++i) {
      if (next < split.documents.size() && split.documents[next] == begin + i) {
        begins += fmt::format("{} ", bytes + text.size());
        ++next;
      }
      text += symbols[static_cast<std::size_t>(ids[static_cast<std::size_t>(i)])];
    }
    bytes += text.size();
    hash.update(text);
    split.tokens.release(begin);
  }
  hash.update(begins.empty() ? "0 " : begins);
  return hash.finish();
}

}  // namespace

std::map<std::string, std::string> text_hashes(const fs::path& folder) {
  std::map<std::string, std::string> hashes;
  VerifiedFiles files(folder);
  std::optional<PreparedData> data;
  for (const std::string split : {"valid", "test"}) {
    const std::string file = split + ".bin";
    if (!fs::exists(folder / file)) continue;
    const std::string hash = files.of_file(file, "text", [&] {
      if (!data) data = open_prepared(folder);
      const Split& of = data->split(split);
      return of.unknown > 0 ? "" : hash_of_text(of, symbol_bytes(data->vocabulary));
    });
    if (!hash.empty()) hashes[split] = hash;
  }
  return hashes;
}

}  // namespace xlm
