// The energy that a run uses.
#include "experiments/worker/energy_meter.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "experiments/runs/machine_resources.h"

namespace xlm {
namespace {

using Card = void*;  // NVML's handle
using Listed = std::vector<std::pair<Card, std::string>>;

/// nullopt if the file cannot be read: only root may, on most machines.
std::optional<std::uint64_t> counted(const fs::path& file) {
  std::ifstream in(file);
  std::uint64_t number = 0;
  return in >> number ? std::optional(number) : std::nullopt;
}

/// "intel-rapl:0" is a package; "intel-rapl:0:0" is a part of one.
bool is_package(const std::string& name) {
  constexpr std::string_view kPrefix = "intel-rapl:";
  return name.starts_with(kPrefix) && name.find(':', kPrefix.size()) == std::string::npos;
}

/// Calls a function of NVML, which returns 0 for success. Returns whether it is there and succeeds.
template <class... Arguments>
bool call(void* library, const char* name, Arguments... arguments) {
  const auto function = reinterpret_cast<int (*)(Arguments...)>(::dlsym(library, name));
  return function != nullptr && function(arguments...) == 0;
}

/// The cards that this process may use, in the order of the bus, and their kinds. CUDA does not count others, either.
Listed listed_cards(void* nvml) {
  Listed listed;
  unsigned count = 0;
  call(nvml, "nvmlDeviceGetCount_v2", &count);
  for (unsigned i = 0; i < count; ++i) {
    Card card = nullptr;
    std::array<char, 96> kind{};  // as many as NVML writes
    if (!call(nvml, "nvmlDeviceGetHandleByIndex_v2", i, &card)) continue;
    call(nvml, "nvmlDeviceGetName", card, kind.data(), static_cast<unsigned>(kind.size()));
    listed.emplace_back(card, kind.data());
  }
  return listed;
}

/// The card of "0" or of "GPU-8932f937-…". Null if it is not known: CUDA numbers cards of different kinds in the bus's
/// order only if it is told to.
Card card_of(void* nvml, const std::string& name, const Listed& listed) {
  Card card = nullptr;
  std::int64_t number = -1;
  if (!parse_integer(name, number)) {
    return call(nvml, "nvmlDeviceGetHandleByUUID", name.c_str(), &card) ? card : nullptr;
  }
  const char* order = std::getenv("CUDA_DEVICE_ORDER");
  const bool is_bus_order = order != nullptr && std::string_view(order) == "PCI_BUS_ID";
  const auto is_other = [&](const auto& one) { return one.second != listed.front().second; };
  if (number < 0 || number >= std::ssize(listed)) return nullptr;
  if (!is_bus_order && std::any_of(listed.begin(), listed.end(), is_other)) return nullptr;
  return listed[static_cast<std::size_t>(number)].first;
}

}  // namespace

GpuRange gpus_from(const std::string& device, std::int64_t count) {
  constexpr std::string_view kNumbered = "cuda:";
  if (!device.starts_with("cuda")) return {};
  GpuRange gpus{.first = 0, .count = count};
  if (device.starts_with(kNumbered)) parse_integer(device.substr(kNumbered.size()), gpus.first);
  return gpus;
}

EnergyMeter::EnergyMeter(const GpuRange& gpus, const fs::path& processors, const std::string& library)
    : counters_(counters_of_processors(processors)) {
  std::vector<Counter> of_gpus = counters_of_gpus(gpus, library);
  std::move(of_gpus.begin(), of_gpus.end(), std::back_inserter(counters_));
}

std::vector<EnergyMeter::Counter> EnergyMeter::counters_of_processors(const fs::path& folder) {
  std::vector<Counter> counters;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!is_package(entry.path().filename().string())) continue;
    const auto range = counted(entry.path() / "max_energy_range_uj");
    const fs::path file = entry.path() / "energy_uj";
    const auto first = counted(file);
    if (!range || !first) continue;
    counters.push_back({"energy", 1e-6, *range, [file] { return counted(file); }, *first});
  }
  return counters;
}

std::vector<EnergyMeter::Counter> EnergyMeter::counters_of_gpus(const GpuRange& gpus, const std::string& library) {
  void* nvml = gpus.count > 0 ? ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (nvml == nullptr || !call(nvml, "nvmlInit_v2")) return {};
  const Listed listed = listed_cards(nvml);
  const std::vector<std::string> names = visible_gpus();
  std::vector<Counter> counters;
  for (std::int64_t i = gpus.first; i < std::ssize(names) && i - gpus.first < gpus.count; ++i) {
    const auto read = [nvml, card = card_of(nvml, names[static_cast<std::size_t>(i)], listed)] {
      unsigned long long millijoules = 0;
      const bool known = card != nullptr && call(nvml, "nvmlDeviceGetTotalEnergyConsumption", card, &millijoules);
      return known ? std::optional<std::uint64_t>(millijoules) : std::nullopt;
    };
    const std::optional<std::uint64_t> first = read();
    if (!first) return {};  // the others alone would pass for the energy of all
    counters.push_back({"energy_gpu", 1e-3, 0, read, *first});
  }
  return counters;
}

NamedValues EnergyMeter::joules() {
  NamedValues used;
  for (Counter& counter : counters_) {
    if (const std::optional<std::uint64_t> now = counter.read()) {
      const std::uint64_t before = std::exchange(counter.last, *now);
      const std::uint64_t left = counter.range > 0 ? counter.range - before : 0;
      counter.units += static_cast<double>(*now >= before ? *now - before : *now + left);
    }
    used[counter.quantity] += counter.unit * counter.units;
  }
  return used;
}

}  // namespace xlm
