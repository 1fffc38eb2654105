// A stand-in for libnvidia-ml.so.1. Its cards are the lines of the file that XLM_FAKE_NVML names, in the order of the
// bus: a UUID, a kind in one word, and the millijoules of its counter, "-" if it has none. A line "hidden" is a card
// that this process may not use. Without such a file there is no driver.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int kSuccess = 0;
constexpr int kNotSupported = 3;
constexpr int kNoPermission = 4;
constexpr int kNotFound = 6;
constexpr int kInsufficientSize = 7;
constexpr int kDriverNotLoaded = 9;

/// Words of the line that describes a card.
using Words = std::vector<std::string>;

std::vector<Words> lines() {
  const char* name = std::getenv("XLM_FAKE_NVML");
  std::ifstream file(name == nullptr ? "" : name);
  std::vector<Words> all;
  for (std::string line; std::getline(file, line);) {
    std::istringstream text(line);
    Words words;
    for (std::string word; text >> word;) words.push_back(word);
    if (!words.empty()) all.push_back(words);
  }
  return all;
}

/// A handle is the number of a line, from 1 on.
void* handle_of(std::size_t line) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(line + 1)); }

Words line_of(void* handle) {
  const std::vector<Words> all = lines();
  const auto number = static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(handle));
  return number > 0 && number <= all.size() ? all[number - 1] : Words();
}

int write_word(void* card, std::size_t index, char* text, unsigned size) {
  const Words words = line_of(card);
  if (words.size() <= index) return kNotFound;
  if (words[index].size() >= size) return kInsufficientSize;
  std::memcpy(text, words[index].c_str(), words[index].size() + 1);
  return kSuccess;
}

template <class Number>
int write_number(void* card, std::size_t index, Number* number) {
  const Words words = line_of(card);
  if (words.size() <= index) return kNotFound;
  if (words[index] == "-") return kNotSupported;
  *number = static_cast<Number>(std::stoull(words[index]));
  return kSuccess;
}

}  // namespace

extern "C" {

int nvmlInit_v2() { return std::getenv("XLM_FAKE_NVML") == nullptr ? kDriverNotLoaded : kSuccess; }

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(lines().size());
  return kSuccess;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** card) {
  const std::vector<Words> all = lines();
  if (index >= all.size()) return kNotFound;
  if (all[index][0] == "hidden") return kNoPermission;
  *card = handle_of(index);
  return kSuccess;
}

int nvmlDeviceGetHandleByUUID(const char* uuid, void** card) {
  const std::vector<Words> all = lines();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i][0] != uuid) continue;
    *card = handle_of(i);
    return kSuccess;
  }
  return kNotFound;
}

int nvmlDeviceGetName(void* card, char* text, unsigned size) { return write_word(card, 1, text, size); }
int nvmlDeviceGetTotalEnergyConsumption(void* card, unsigned long long* millijoules) {
  return write_number(card, 2, millijoules);
}

}  // extern "C"
