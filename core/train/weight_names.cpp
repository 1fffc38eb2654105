// What the names of weights say.
#include "core/train/weight_names.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace xlm {
namespace {

bool is_number(const std::string& word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool is_of_numbered_layer(const std::string& weight) {
  const std::vector<std::string> words = split(weight, '.');
  return std::any_of(words.begin(), words.end(), is_number);
}

std::string layer_of(const std::string& weight) {
  std::vector<std::string> words = split(weight, '.');
  const auto first = std::find_if(words.begin(), words.end(), is_number);
  if (first == words.end()) {
    if (words.size() > 1) words.pop_back();
  } else {
    words.erase(std::find_if_not(first, words.end(), is_number), words.end());
  }
  return join(words, ".");
}

}  // namespace xlm
