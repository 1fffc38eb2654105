// Damage for files of any kind.
#pragma once

#include <random>
#include <string>

namespace xlm {

/// Damages a file: some bytes changed, removed, repeated or added, another end, or another file's bytes.
inline std::string mutated(std::string bytes, std::mt19937& random) {
  const auto below = [&](std::size_t limit) { return limit == 0 ? 0 : random() % limit; };
  switch (below(6)) {
    case 0:
      if (!bytes.empty()) bytes[below(bytes.size())] ^= static_cast<char>(1 << below(8));
      break;
    case 1:
      bytes.resize(below(bytes.size()));
      break;
    case 2:
      bytes.insert(below(bytes.size()), std::string(1 + below(20), static_cast<char>(random())));
      break;
    case 3:
      bytes.erase(below(bytes.size()), 1 + below(20));
      break;
    case 4:
      bytes.insert(below(bytes.size()), bytes.substr(below(bytes.size()), below(200)));
      break;
    default:
      for (char& byte : bytes) {
        if (below(50) == 0) byte = static_cast<char>(random());
      }
  }
  return bytes;
}

/// Texts that only libraries print, or the program about its own mistakes: they are no messages for users.
inline const char* raw_words_in(const std::string& message) {
  for (const char* raw : {"json.exception", "yaml-cpp", "map::at", "basic_string", "filesystem error",
                          "std::", "did not foresee", "frame #"}) {
    if (message.find(raw) != std::string::npos) return raw;
  }
  return nullptr;
}

}  // namespace xlm
