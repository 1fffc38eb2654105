// Files that tests of experiments need: a small prepared data folder, and configurations.
#pragma once

#include <string>

#include "base/files.h"
#include "base/json.h"
#include "base/sha256.h"

namespace xlm {

/// A prepared data folder of three symbols; another `text` is other data.
inline fs::path make_data(const fs::path& folder, const std::string& text = "abcabcabc") {
  create_folders(folder);
  std::string ids;
  for (const char c : text) ids += static_cast<char>(c - 'a');
  const std::string vocabulary = R"({"unit": "character", "symbols": ["a", "b", "c"]})";
  Json meta = {{"dataset", "abc"}, {"language", ""}};
  for (const char* split : {"train", "valid", "test"}) {
    const std::string name = std::string(split) + ".bin";
    write_file(folder / name, ids);
    meta["sizes"][split] = ids.size();
    meta["outputs"][name] = sha256(ids);
  }
  write_file(folder / "vocab.json", vocabulary);
  meta["outputs"]["vocab.json"] = sha256(vocabulary);
  write_file(folder / "meta.json", meta.dump());
  return folder;
}

/// A small run on `data`; `more` is added at the end.
inline std::string run_config(const fs::path& data, const std::string& more = "") {
  return "data: {path: " + data.string() +
         "}\nmodel: {type: adaptive-span, width: 8, heads: 2, layers: 1, span: 16}\n"
         "train: {steps: 10, batch: 2, block: 4, checkpoint_every: 4}\n"
         "device: cpu\n" +
         more;
}

/// A small run of a model that reads its text in windows of 8 tokens.
inline std::string window_config(const fs::path& data, const std::string& more = "") {
  return "data: {path: " + data.string() +
         "}\nmodel: {type: gpt2, width: 8, heads: 2, layers: 2, positions: 16, window: 8}\n"
         "train: {steps: 10, batch: 2, checkpoint_every: 4}\n"
         "device: cpu\n" +
         more;
}

}  // namespace xlm
