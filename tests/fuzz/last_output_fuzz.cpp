// libFuzzer target: any bytes as what a program of others says, and as a pattern of its code. What is shown of it is
// valid UTF-8 of few lines without control characters.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.h"
#include "base/utf8.h"
#include "experiments/programs/code_paths.h"
#include "experiments/programs/last_output.h"
#include "experiments/programs/program_end.h"

namespace {

constexpr std::size_t kLines = 5;
constexpr std::size_t kWidth = 100;
constexpr std::size_t kMark = 3;  // bytes of "…"

void check_shown(const std::string& shown) {
  if (xlm::repaired_utf8(shown) != shown) std::abort();
  const std::vector<std::string> lines = xlm::split(shown, '\n');
  if (lines.size() > kLines) std::abort();
  for (const std::string& line : lines) {
    if (line.size() > kWidth + kMark || (lines.size() > 1 && line.empty())) std::abort();
    for (const char c : line) {
      if (static_cast<unsigned char>(c) < ' ' && c != '\t') std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_shown(xlm::shown_output(text, kLines, kWidth));
  xlm::LastOutput last;
  last.add(std::string_view(text).substr(0, size / 2));
  last.add(std::string_view(text).substr(size / 2));
  if (last.message() != xlm::shown_output(text, 20, 400) && size < 65536) std::abort();
  std::string line;
  if (xlm::find_memory_shortage(last.recent(), &line) != xlm::MemoryShortage::kNone && line.empty()) std::abort();
  const std::size_t middle = text.find('\n');
  if (middle != std::string::npos && middle < 100) {
    (void)xlm::fits_pattern(text.substr(0, middle), text.substr(middle + 1, 100));
  }
  return 0;
}
