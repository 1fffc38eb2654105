// The machine code of the GPU kernels: what the compiler's log and NVIDIA's disassembler say about it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace xlm {

/// Numbers of one kernel, of which less is better.
struct MachineCode {
  std::int64_t instructions = 0;         // without padding
  std::int64_t matrix_instructions = 0;  // HMMA: products of small matrices
  std::int64_t local_accesses = 0;       // LDL and STL: what does not fit into registers
  std::int64_t registers = 0;            // of a thread
  std::int64_t spilled_bytes = 0;        // stored by a thread, by the compiler's count
};

/// Bytes of shared memory that a block of a capability may have (CUDA programming guide).
inline int shared_memory_of(int capability) {
  if (capability == 80) return 163 << 10;
  return capability == 86 || capability == 89 || capability == 120 ? 99 << 10 : 227 << 10;
}

/// nvdisasm of `make null-cuda`, or of PATH; nullopt if there is none.
inline std::optional<fs::path> find_disassembler() {
  const fs::path own = fs::path(XLM_SOURCE_DIR) / ".deps/nvdisasm/nvidia/cu13/bin/nvdisasm";
  if (fs::exists(own)) return own;
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path != nullptr ? path : "", ':')) {
    if (!folder.empty() && fs::exists(fs::path(folder) / "nvdisasm")) return fs::path(folder) / "nvdisasm";
  }
  return std::nullopt;
}

/// The operation of a line of the disassembler: "        /*0130*/    @!P0 IABS R3, R3 ;" is IABS. "" for other lines.
inline std::string_view operation_of(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(' ');
  if (begin == std::string_view::npos || line.substr(begin, 2) != "/*") return "";
  const std::size_t end = line.find("*/", begin);
  if (end == std::string_view::npos || line.find(';', end) == std::string_view::npos) return "";
  line.remove_prefix(end + 2);
  const auto next_word = [&line] {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(" ;"));
    line.remove_prefix(word.size());
    return word;
  };
  const std::string_view word = next_word();
  return word.substr(0, 1) == "@" ? next_word() : word;  // behind its condition
}

/// By function: counts of a disassembled program's instructions.
inline std::map<std::string, MachineCode> count_instructions(const std::string& disassembled) {
  constexpr std::string_view kSection = ".text.";
  std::map<std::string, MachineCode> found;
  MachineCode* present = nullptr;
  for (const std::string& line : split(disassembled, '\n')) {
    if (line.starts_with(kSection)) present = &found[line.substr(kSection.size(), line.find(':') - kSection.size())];
    const std::string_view operation = operation_of(line);
    if (present == nullptr || operation.empty() || operation == "NOP") continue;
    ++present->instructions;
    if (operation.starts_with("HMMA")) ++present->matrix_instructions;
    if (operation.starts_with("LDL") || operation.starts_with("STL")) ++present->local_accesses;
  }
  return found;
}

/// The number before `what` in a line; -1 if it is not there.
inline std::int64_t number_before(const std::string& line, std::string_view what) {
  const std::size_t at = line.find(what);
  if (at == std::string::npos || at == 0) return -1;
  const std::size_t before = line.find_last_not_of("0123456789", at - 1);
  return std::strtoll(line.c_str() + (before == std::string::npos ? 0 : before + 1), nullptr, 10);
}

/// Adds what the compiler's log says about each function.
inline void read_compiler_log(const std::string& log, std::map<std::string, MachineCode>& functions) {
  constexpr std::string_view kBegin = "Compiling entry function '";
  MachineCode* present = nullptr;
  for (const std::string& line : split(log, '\n')) {
    if (const std::size_t at = line.find(kBegin); at != std::string::npos) {
      const std::size_t name = at + kBegin.size();
      present = &functions[line.substr(name, line.find('\'', name) - name)];
    }
    if (present == nullptr) continue;
    if (const std::int64_t bytes = number_before(line, " bytes spill stores"); bytes >= 0) {
      present->spilled_bytes = bytes;
    }
    if (const std::int64_t count = number_before(line, " registers"); count >= 0) present->registers = count;
  }
}

}  // namespace xlm
