// The last lines of what a program said.
#include "experiments/programs/last_output.h"

#include <algorithm>
#include <vector>

#include <re2/re2.h>

#include "base/text.h"
#include "base/utf8.h"

namespace xlm {
namespace {

constexpr std::size_t kKeptBytes = 65536;
constexpr std::size_t kMessageLines = 20;
constexpr std::size_t kMessageWidth = 400;
constexpr std::size_t kRecentLines = 200;

/// Without sequences and control characters but line ends, carriage returns and tabs.
std::string without_control(std::string_view text) {
  std::string plain;
  for (const char c : without_escapes(text)) {
    if (c == '\b' && !plain.empty() && plain.back() != '\n') plain.pop_back();
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    if (!control || c == '\n' || c == '\r' || c == '\t') plain.push_back(c);
  }
  return plain;
}

/// What a line shows at last: the text behind its last carriage return that has one.
std::string readable_line(std::string_view line) {
  std::string_view shown;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find('\r', begin), line.size());
    const std::string_view part = line.substr(begin, end - begin);
    if (!trim(part).empty()) shown = part;
    begin = end + 1;
  }
  while (!shown.empty() && (shown.back() == ' ' || shown.back() == '\t')) shown.remove_suffix(1);
  return std::string(shown);
}

std::string shortened(const std::string& line, std::size_t width) {
  if (line.size() <= width) return line;
  std::size_t end = width;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0U) == 0x80U) --end;  // whole characters
  return line.substr(0, end) + "…";
}

}  // namespace

std::string without_escapes(std::string_view text) {
  // Parameters and a letter; a text up to its end, a bell or an escape; or other signs and a letter.
  static const RE2 sequence(R"(\x1b(?:\[[ -?]*[@-~]?|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[ -/]*[0-~]?))",
                            RE2::Latin1);
  std::string plain(text);
  RE2::GlobalReplace(&plain, sequence, "");
  return plain;
}

std::string shown_output(std::string_view raw, std::size_t lines, std::size_t width) {
  const std::string text = without_control(raw);
  std::vector<std::string> shown;
  for (std::size_t end = text.size(); shown.size() < lines;) {
    const std::size_t before = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    std::string line = readable_line(std::string_view(text).substr(begin, end - begin));
    if (!line.empty()) shown.push_back(shortened(printable(repaired_utf8(line)), width));
    if (before == std::string::npos) break;
    end = before;
  }
  std::ranges::reverse(shown);
  return join(shown, "\n");
}

void LastOutput::add(std::string_view output) {
  if (output.size() > kKeptBytes) {
    output.remove_prefix(output.size() - kKeptBytes);
    end_.clear();
  }
  end_.append(output);
  if (end_.size() <= 2 * kKeptBytes) return;
  end_.erase(0, end_.size() - kKeptBytes);
}

std::string LastOutput::message() const { return shown_output(end_, kMessageLines, kMessageWidth); }

std::string LastOutput::recent() const { return shown_output(end_, kRecentLines, kKeptBytes); }

}  // namespace xlm
