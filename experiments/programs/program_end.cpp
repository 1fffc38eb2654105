// How a foreign program ended.
#include "experiments/programs/program_end.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/text.h"

namespace xlm {
namespace {

constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;
constexpr int kAfterSignal = 128;
constexpr int kLastSignal = 64;
constexpr const char* kOutputFollows = "\nits last lines:\n";

/// What programs say when memory is too small. The words of devices come first: some of them hold those of hosts.
struct ShortageWords {
  std::string_view text;
  MemoryShortage memory;
  bool at_beginning = false;  // of a line
};

constexpr std::array<ShortageWords, 16> kShortageWords{{
    {"CUDA out of memory", MemoryShortage::kDevice},
    {"CUDA error: out of memory", MemoryShortage::kDevice},
    {"CUDA_ERROR_OUT_OF_MEMORY", MemoryShortage::kDevice},
    {"cudaErrorMemoryAllocation", MemoryShortage::kDevice},
    {"CUBLAS_STATUS_ALLOC_FAILED", MemoryShortage::kDevice},
    {"HIP out of memory", MemoryShortage::kDevice},
    {"MPS backend out of memory", MemoryShortage::kDevice},
    {"torch.OutOfMemoryError", MemoryShortage::kDevice},
    {"torch.cuda.OutOfMemoryError", MemoryShortage::kDevice},
    {"RESOURCE_EXHAUSTED: Out of memory", MemoryShortage::kDevice},
    {"MemoryError", MemoryShortage::kHost, true},
    {"_ArrayMemoryError", MemoryShortage::kHost},
    {"std::bad_alloc", MemoryShortage::kHost},
    {"DefaultCPUAllocator: ", MemoryShortage::kHost},
    {"Cannot allocate memory", MemoryShortage::kHost},
    {"oom_kill event", MemoryShortage::kHost},
}};

std::string signal_name(int signal) {
  const char* const name = ::sigdescr_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("signal {} ({})", signal, name);
}

}  // namespace

bool ends_with_exception(std::string_view last_lines) {
  static const RE2 last(
      R"re((?s)(?:Traceback \(most recent call last\)|\n  File "[^"]+", line \d+).*\n[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Iteration)(?::[^\n]*)?((?:\n[^\n]*){0,4})$)re");
  const bool is_ignored = last_lines.find("Exception ignored in") != std::string_view::npos;  // while Python ended
  const std::string_view text = trim(last_lines);
  return !is_ignored && RE2::PartialMatch({text.data(), text.size()}, last);
}

MemoryShortage find_memory_shortage(const std::string& last_lines, std::string* line) {
  std::vector<std::string> lines = split(last_lines, '\n');
  std::ranges::reverse(lines);  // the newest first
  for (const std::string& written : lines) {
    for (const ShortageWords& words : kShortageWords) {
      const std::size_t place = written.find(words.text);
      if (place == std::string::npos || (words.at_beginning && place > 0)) continue;
      if (line != nullptr) *line = std::string(trim(written));
      return words.memory;
    }
  }
  return MemoryShortage::kNone;
}

std::string reason_of(const ProgramEnd& end) {
  if (!end.watched) return "what watches it was killed, and all its processes with it";
  if (end.memory != MemoryShortage::kNone) return "out of memory: " + end.memory_sign;
  if (end.killed) return "it was asked to stop and did not end in time, so it was killed";
  if (end.signal != 0) return signal_name(end.signal);
  switch (end.code) {
    case kNotExecutable:
      return "exit code 126: it could not execute a command";
    case kNotFound:
      return "exit code 127: it did not find a command";
    default:
      break;
  }
  const int signal = end.code - kAfterSignal;
  if (signal > 0 && signal <= kLastSignal)
    return fmt::format("exit code {}, as after {}", end.code, signal_name(signal));
  return fmt::format("exit code {}", end.code);
}

std::string reason_with_output(const ProgramEnd& end) {
  const std::string lines(trim(end.last_lines));
  return reason_of(end) + (lines.empty() ? "" : kOutputFollows + lines);
}

std::string without_output(const std::string& reason) {
  const std::size_t place = reason.find(kOutputFollows);
  return place == std::string::npos ? reason : reason.substr(0, place) + " (its last lines: output.txt)";
}

}  // namespace xlm
