// NVML: what NVIDIA's driver tells of the cards in this machine. Its library comes with the driver and is opened at run
// time, so nothing here needs it to be installed.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace xlm {

/// Some of the GPUs that CUDA shows to this process, in its order.
struct GpuRange {
  static constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();

  std::int64_t first = 0;
  std::int64_t count = 0;  // 0: none
};

/// `count` GPUs from that of a device on: "cuda:1" is the second, "cuda" the first, and "cpu" none.
GpuRange gpus_from(const std::string& device, std::int64_t count);

class Nvml {
 public:
  using Card = void*;  // a handle of the library

  static constexpr const char* kLibrary = "libnvidia-ml.so.1";

  /// Null if there is no such library, if it lacks a function, or if it finds no driver.
  static std::unique_ptr<const Nvml> open(const std::string& library = kLibrary);

  class Functions;
  /// Takes what open() has opened.
  explicit Nvml(std::unique_ptr<const Functions> functions);
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml();

  /// The cards behind some GPUs, each once, by the rules of CUDA_VISIBLE_DEVICES (numbers, UUIDs and their beginnings,
  /// names of MIG parts, whose card counts whole) and of CUDA_DEVICE_ORDER. Empty if that is unknown: numbers of cards
  /// of different kinds mean the bus's order only with CUDA_DEVICE_ORDER=PCI_BUS_ID.
  std::vector<Card> cards_of(const GpuRange& gpus) const;

  /// The card's counter of energy; nullopt if it has none.
  std::optional<std::uint64_t> millijoules(Card card) const;
  /// What it draws now; nullopt if it does not tell.
  std::optional<std::uint64_t> milliwatts(Card card) const;

 private:
  struct Listed;
  struct Visible;

  std::vector<Listed> listed_cards() const;
  std::vector<Visible> visible_cards(const std::vector<Listed>& listed) const;
  Card named_card(const std::string& name, const std::vector<Listed>& listed) const;

  std::unique_ptr<const Functions> functions_;
};

}  // namespace xlm
