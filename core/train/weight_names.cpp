// What the names of weights say.
#include "core/train/weight_names.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace xlm {
namespace {

bool is_number(const std::string& word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool is_of_numbered_layer(const std::string& weight) {
  const std::vector<std::string> words = split(weight, '.');
  return std::ranges::any_of(words, is_number);
}

std::string layer_of(const std::string& weight) {
  std::vector<std::string> words = split(weight, '.');
  const auto first = std::ranges::find_if(words, is_number);
  if (first == words.end()) {
    if (words.size() > 1) words.pop_back();
  } else {
    words.erase(std::find_if_not(first, words.end(), is_number), words.end());
  }
  return join(words, ".");
}

}  // namespace xlm
