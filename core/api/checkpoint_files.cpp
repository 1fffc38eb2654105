// The names of checkpoint files.
#include "core/api/checkpoint_files.h"

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"

namespace xlm {
namespace {

constexpr std::string_view kStepPrefix = "step-";
constexpr const char* kCheckpointExtension = ".safetensors";

}  // namespace

fs::path checkpoint_name(std::int64_t step) {
  return fmt::format("{}{:09}{}", kStepPrefix, step, kCheckpointExtension);
}

std::int64_t step_of_checkpoint(const fs::path& file) {
  const std::string name = file.stem().string();
  std::int64_t step = 0;
  const bool fits = file.extension() == kCheckpointExtension && name.starts_with(kStepPrefix) &&
                    parse_integer(name.substr(kStepPrefix.size()), step) && step >= 0;
  return fits ? step : -1;
}

}  // namespace xlm
