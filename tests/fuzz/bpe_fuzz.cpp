// libFuzzer target: any bytes as text to encode, as merges.txt, as vocab.json and as tokenizer.json. Tokens decode to
// the same bytes and do not depend on the pieces of the text. Files may only throw an Error.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "datasets/tokens/bpe_encoder.h"
#include "datasets/tokens/bpe_pieces.h"
#include "datasets/tokens/decoder.h"
#include "datasets/tokens/tokenizer_json.h"

namespace {

using Tokens = std::vector<std::uint32_t>;

Tokens encode(xlm::BpeEncoder& encoder, std::string_view text, std::size_t block) {
  Tokens tokens;
  for (; !text.empty(); text.remove_prefix(std::min(block, text.size()))) encoder.write(text.substr(0, block), tokens);
  encoder.finish(tokens);
  return tokens;
}

xlm::Vocabulary vocabulary() {
  xlm::Vocabulary made{xlm::Vocabulary::Unit::kBpe, {}};
  for (int byte = 0; byte < 256; ++byte) made.symbols.push_back(xlm::byte_symbol(static_cast<unsigned char>(byte)));
  for (const char* token : {"th", "the", "in", "aa", "aaaa", "\xC3\x83\xC2\xA9", "''", "\xC4\xA0\xC4\xA0"}) {
    made.symbols.emplace_back(token);
  }
  return made;
}

constexpr std::string_view kMerges = "t h\nth e\ni n\na a\naa aa\n\xC3\x83 \xC2\xA9\n' '\n\xC4\xA0 \xC4\xA0\n";

/// The quick way to pieces, and the way to a place between two, against first_piece.
void check_pieces(std::string_view text) {
  std::size_t place = 0;
  while (const std::size_t bytes = xlm::first_piece(text.substr(place), false)) {
    if (text.size() - place >= xlm::kStretchBytes) {
      const std::uint64_t beginnings = xlm::piece_beginnings(text.data() + place);
      if (beginnings != 0 && static_cast<std::size_t>(std::countr_zero(beginnings)) != bytes) std::abort();
    }
    place += bytes;
  }
  if (xlm::settled_bytes(text) != place) std::abort();
}

void check_text(const xlm::Bpe& bpe, std::string_view text) {
  static const std::vector<std::string> bytes = xlm::symbol_bytes(bpe.vocabulary());
  static xlm::BpeEncoder encoder(bpe);  // one for all inputs, so that its cache is tested too
  const Tokens tokens = encode(encoder, text, text.size() + 1);
  std::string back;
  for (const std::uint32_t token : tokens) back += bytes.at(token);
  if (back != text) std::abort();
  for (const std::size_t block : {1, 3, 64}) {
    if (encode(encoder, text, block) != tokens) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const xlm::Bpe bpe(vocabulary(), kMerges, "vocabulary", "merges");
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_text(bpe, text);
  check_pieces(text);
  try {
    xlm::Bpe(vocabulary(), text, "vocabulary", "fuzz");
  } catch (const xlm::Error&) {
  }
  try {
    xlm::Bpe(xlm::parse_bpe_vocabulary(text, "fuzz"), kMerges, "fuzz", "merges");
  } catch (const xlm::Error&) {
  }
  try {
    xlm::parse_tokenizer_json(text, "fuzz", size);
  } catch (const xlm::Error&) {
  }
  return 0;
}
