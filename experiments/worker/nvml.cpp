// NVML, by its few functions that are needed here.
#include "experiments/worker/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "experiments/runs/machine_resources.h"

namespace xlm {
namespace {

constexpr int kNvmlSuccess = 0;
constexpr std::string_view kCudaDevice = "cuda";
constexpr std::string_view kNumberedDevice = "cuda:";

/// NVML is C: a text is written into a place of a given size. UUIDs and names need 96 bytes at most.
using NvmlText = std::array<char, 96>;

template <class Function>
bool find_function(void* library, const char* name, Function& found) {
  found = reinterpret_cast<Function>(::dlsym(library, name));
  return found != nullptr;
}

bool numbers_are_of_the_bus() {
  const char* order = std::getenv("CUDA_DEVICE_ORDER");
  return order != nullptr && std::string_view(order) == "PCI_BUS_ID";
}

}  // namespace

GpuRange gpus_from(const std::string& device, std::int64_t count) {
  if (!device.starts_with(kCudaDevice)) return {};
  GpuRange gpus{.first = 0, .count = count};
  if (device.starts_with(kNumberedDevice)) parse_integer(device.substr(kNumberedDevice.size()), gpus.first);
  return gpus;
}

class Nvml::Functions {
 public:
  /// Whether all of them are there. A library that is opened stays open.
  bool find(const std::string& library) {
    void* opened = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    return opened != nullptr && find_function(opened, "nvmlInit_v2", init) &&
           find_function(opened, "nvmlShutdown", shutdown) &&
           find_function(opened, "nvmlDeviceGetCount_v2", get_count) &&
           find_function(opened, "nvmlDeviceGetHandleByIndex_v2", get_by_index) &&
           find_function(opened, "nvmlDeviceGetHandleByUUID", get_by_uuid) &&
           find_function(opened, "nvmlDeviceGetUUID", get_uuid) &&
           find_function(opened, "nvmlDeviceGetName", get_name) &&
           find_function(opened, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle", get_card_of_part) &&
           find_function(opened, "nvmlDeviceGetTotalEnergyConsumption", get_energy) &&
           find_function(opened, "nvmlDeviceGetPowerUsage", get_power);
  }

  // As NVIDIA documents them: each returns a code, 0 for success.
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*get_count)(unsigned* count) = nullptr;
  int (*get_by_index)(unsigned index, Card* card) = nullptr;  // in the order of the bus
  int (*get_by_uuid)(const char* uuid, Card* card) = nullptr;
  int (*get_uuid)(Card card, char* uuid, unsigned size) = nullptr;
  int (*get_name)(Card card, char* name, unsigned size) = nullptr;
  int (*get_card_of_part)(Card part, Card* card) = nullptr;
  int (*get_energy)(Card card, unsigned long long* millijoules) = nullptr;
  int (*get_power)(Card card, unsigned* milliwatts) = nullptr;
};

/// A card that this process may use.
struct Nvml::Listed {
  Card card = nullptr;
  std::string uuid;
  std::string kind;
};

/// A GPU as CUDA shows it.
struct Nvml::Visible {
  Card card = nullptr;
  bool is_by_number = false;
};

Nvml::Nvml(std::unique_ptr<const Functions> functions) : functions_(std::move(functions)) {}

Nvml::~Nvml() { functions_->shutdown(); }

std::unique_ptr<const Nvml> Nvml::open(const std::string& library) {
  auto functions = std::make_unique<Functions>();
  if (!functions->find(library) || functions->init() != kNvmlSuccess) return nullptr;
  return std::make_unique<const Nvml>(std::move(functions));
}

std::vector<Nvml::Listed> Nvml::listed_cards() const {
  unsigned count = 0;
  std::vector<Listed> listed;
  if (functions_->get_count(&count) != kNvmlSuccess) return listed;
  for (unsigned i = 0; i < count; ++i) {
    Listed entry;
    NvmlText uuid{};
    NvmlText kind{};
    // CUDA does not count cards that this process may not use, either.
    if (functions_->get_by_index(i, &entry.card) != kNvmlSuccess) continue;
    if (functions_->get_uuid(entry.card, uuid.data(), uuid.size()) == kNvmlSuccess) entry.uuid = uuid.data();
    if (functions_->get_name(entry.card, kind.data(), kind.size()) == kNvmlSuccess) entry.kind = kind.data();
    listed.push_back(std::move(entry));
  }
  return listed;
}

/// The card of "GPU-8932f937", of "MIG-…" or of the older "MIG-GPU-…/1/0". Null if no card or several have that name.
Nvml::Card Nvml::named_card(const std::string& name, const std::vector<Listed>& listed) const {
  constexpr std::string_view kPart = "MIG-";
  std::string uuid = name;
  if (name.starts_with(kPart)) {
    Card part = nullptr;
    Card card = nullptr;
    const bool is_known = functions_->get_by_uuid(name.c_str(), &part) == kNvmlSuccess &&
                          functions_->get_card_of_part(part, &card) == kNvmlSuccess;
    if (is_known) return card;
    uuid = name.substr(kPart.size(), name.find('/') - kPart.size());
  }
  if (!uuid.starts_with("GPU-")) return nullptr;
  const auto has_name = [&](const Listed& entry) { return entry.uuid.starts_with(uuid); };
  const auto found = std::find_if(listed.begin(), listed.end(), has_name);
  const bool is_single = found != listed.end() && std::none_of(found + 1, listed.end(), has_name);
  return is_single ? found->card : nullptr;
}

std::vector<Nvml::Visible> Nvml::visible_cards(const std::vector<Listed>& listed) const {
  std::vector<Visible> visible;
  if (std::getenv("CUDA_VISIBLE_DEVICES") == nullptr) {
    for (const Listed& entry : listed) visible.push_back({.card = entry.card, .is_by_number = true});
    return visible;
  }
  for (const std::string& name : visible_gpus()) {
    std::int64_t number = 0;
    const bool is_number = parse_integer(name, number);
    const bool is_there = is_number && number >= 0 && number < std::ssize(listed);
    Card card = is_there ? listed[static_cast<std::size_t>(number)].card : nullptr;
    if (!is_number) card = named_card(name, listed);
    if (card == nullptr) break;  // CUDA, too, stops at the first missing GPU
    visible.push_back({.card = card, .is_by_number = is_number});
  }
  return visible;
}

std::vector<Nvml::Card> Nvml::cards_of(const GpuRange& gpus) const {
  const std::vector<Listed> listed = listed_cards();
  const std::vector<Visible> visible = visible_cards(listed);
  std::vector<Card> cards;
  bool has_numbers = false;
  for (std::int64_t i = gpus.first; i < std::ssize(visible) && i - gpus.first < gpus.count; ++i) {
    const Visible& gpu = visible[static_cast<std::size_t>(i)];
    has_numbers = has_numbers || gpu.is_by_number;
    if (std::find(cards.begin(), cards.end(), gpu.card) == cards.end()) cards.push_back(gpu.card);
  }
  const bool are_alike =
      std::all_of(listed.begin(), listed.end(), [&](const Listed& entry) { return entry.kind == listed.front().kind; });
  const bool is_known = !has_numbers || are_alike || numbers_are_of_the_bus() || cards.size() == listed.size();
  return is_known ? cards : std::vector<Card>();
}

std::optional<std::uint64_t> Nvml::millijoules(Card card) const {
  unsigned long long count = 0;
  if (functions_->get_energy(card, &count) != kNvmlSuccess) return std::nullopt;
  return count;
}

std::optional<std::uint64_t> Nvml::milliwatts(Card card) const {
  unsigned power = 0;
  if (functions_->get_power(card, &power) != kNvmlSuccess) return std::nullopt;
  return power;
}

}  // namespace xlm
