// The energy that this machine's processors use.
#include "experiments/worker/energy_meter.h"

#include <fstream>
#include <string>

namespace xlm {
namespace {

constexpr double kMicro = 1e-6;

/// nullopt if the file cannot be read: only root may, on most machines.
std::optional<std::int64_t> counted(const fs::path& file) {
  std::ifstream in(file);
  std::int64_t number = 0;
  return in >> number ? std::optional(number) : std::nullopt;
}

/// "intel-rapl:0" is a package; "intel-rapl:0:0" is a part of one.
bool is_package(const std::string& name) {
  constexpr std::string_view kPrefix = "intel-rapl:";
  return name.starts_with(kPrefix) && name.find(':', kPrefix.size()) == std::string::npos;
}

}  // namespace

EnergyMeter::EnergyMeter(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!is_package(entry.path().filename().string())) continue;
    Package package{.counter = entry.path() / "energy_uj"};
    const auto range = counted(entry.path() / "max_energy_range_uj");
    const auto first = counted(package.counter);
    if (!range || !first) continue;
    package.range = *range;
    package.last = *first;
    packages_.push_back(std::move(package));
  }
}

std::optional<double> EnergyMeter::joules() {
  if (packages_.empty()) return std::nullopt;
  for (Package& package : packages_) {
    const auto now = counted(package.counter);
    if (!now) continue;
    const std::int64_t used = *now >= package.last ? *now - package.last : *now + package.range - package.last;
    microjoules_ += static_cast<double>(used);
    package.last = *now;
  }
  return kMicro * microjoules_;
}

}  // namespace xlm
