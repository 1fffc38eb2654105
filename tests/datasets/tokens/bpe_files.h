// Byte-pair encodings for tests: the small one of tests/golden/bpe.json, and files of vocabularies.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/json.h"
#include "datasets/tokens/bpe.h"
#include "datasets/tokens/decoder.h"

namespace xlm {

inline const Json& bpe_golden() {
  static const Json golden = read_json(fs::path(XLM_SOURCE_DIR) / "tests/golden/bpe.json");
  return golden;
}

/// The text of merges.txt with these lines.
inline std::string merges_text(const std::vector<std::string>& lines) {
  std::string text = "#version: 0.2\n";
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// All byte tokens in byte order, then `more`.
inline Vocabulary byte_vocabulary(const std::vector<std::string>& more) {
  Vocabulary vocabulary{Vocabulary::Unit::kBpe, {}};
  for (int byte = 0; byte < 256; ++byte) vocabulary.symbols.push_back(byte_symbol(static_cast<unsigned char>(byte)));
  vocabulary.symbols.insert(vocabulary.symbols.end(), more.begin(), more.end());
  return vocabulary;
}

inline Bpe small_bpe() {
  Vocabulary vocabulary{Vocabulary::Unit::kBpe, bpe_golden()["vocabulary"].get<std::vector<std::string>>()};
  return {std::move(vocabulary), merges_text(bpe_golden()["merges"].get<std::vector<std::string>>()), "vocab.json",
          "merges.txt"};
}

/// vocab.json in GPT-2's form.
inline std::string gpt2_vocabulary_json(const Vocabulary& vocabulary) {
  std::string text = "{";
  for (std::size_t id = 0; id < vocabulary.symbols.size(); ++id) {
    text += fmt::format("{}{}: {}", id == 0 ? "" : ", ", Json(vocabulary.symbols[id]).dump(), id);
  }
  return text + "}";
}

/// Writes the small encoding as GPT-2's two files into `folder`.
inline fs::path write_small_bpe(const fs::path& folder) {
  const Bpe bpe = small_bpe();
  create_folders(folder);
  write_file(folder / "vocab.json", gpt2_vocabulary_json(bpe.vocabulary()));
  write_file(folder / "merges.txt", bpe.merges_text());
  return folder;
}

}  // namespace xlm
