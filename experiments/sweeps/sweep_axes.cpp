// The axes of a sweep: grid, zip and random.
#include <cstdlib>

#include <fmt/format.h>

#include "base/options.h"
#include "base/random.h"
#include "base/sha256.h"
#include "base/text.h"
#include "experiments/sweeps/key_range.h"
#include "experiments/sweeps/sweep.h"

namespace xlm {
namespace {

constexpr std::size_t kMaximumChoices = 100'000;

/// The values of one key. Null means that a profile has removed the axis.
const std::vector<Yaml>& values_of(const std::string& key, const Yaml& node) {
  if (!node.is_sequence()) fail_at(node, fmt::format("the values of '{}' must be a list, such as [1, 2, 3]", key));
  if (node.items.empty()) fail_at(node, fmt::format("the list of values of '{}' is empty", key));
  return node.items;
}

void add_grid(const Yaml& grid, std::vector<SweepAxis>& axes) {
  if (!grid.is_map()) fail_at(grid, "sweep.grid must be a map of keys to lists of values");
  for (const auto& [key, node] : grid.entries) {
    if (node.is_null()) continue;
    SweepAxis axis{.part = SweepAxis::Part::kGrid, .keys = {key}, .choices = {}};
    for (const Yaml& value : values_of(key, node)) axis.choices.push_back({{key, value}});
    axes.push_back(std::move(axis));
  }
}

void add_zip_block(const Yaml& block, std::vector<SweepAxis>& axes) {
  if (!block.is_map()) fail_at(block, "a block of sweep.zip must be a map of keys to lists of the same length");
  SweepAxis axis{.part = SweepAxis::Part::kZip, .keys = {}, .choices = {}};
  for (const auto& [key, node] : block.entries) {
    const std::vector<Yaml>& values = values_of(key, node);
    if (axis.keys.empty()) axis.choices.resize(values.size());
    if (values.size() != axis.choices.size()) {
      fail_at(node, fmt::format("'{}' has {} values, but '{}', which moves with it, has {}", key, values.size(),
                                axis.keys.front(), axis.choices.size()));
    }
    for (std::size_t i = 0; i < values.size(); ++i) axis.choices[i].emplace_back(key, values[i]);
    axis.keys.push_back(key);
  }
  if (!axis.keys.empty()) axes.push_back(std::move(axis));
}

struct RandomOptions {
  std::int64_t samples = 0;
  std::int64_t generator = 0;

  void visit(OptionVisitor& v) {
    v.field({.name = "samples", .help = "how many", .min = 1, .max = kMaximumChoices}, samples);
    v.field({.name = "generator", .help = "seed of the samples", .min = 0, .max = 9e15}, generator);
  }
};

void add_random(Yaml random, std::vector<SweepAxis>& axes) {
  if (!random.is_map()) fail_at(random, "sweep.random must be a map with samples, generator and keys");
  const Yaml keys = random.take("keys");
  const auto options = options_in<RandomOptions>(random);
  if (options.samples == 0) fail_at(random, "sweep.random.samples is missing");
  if (!keys.is_map() || keys.entries.empty())
    fail_at(random, "sweep.random.keys must be a map of keys to ranges or lists of choices");
  SweepAxis axis{.part = SweepAxis::Part::kRandom, .keys = {}, .choices = {}};
  axis.choices.resize(static_cast<std::size_t>(options.samples));
  for (const auto& [key, node] : keys.entries) {
    if (node.is_null()) continue;  // a profile removes it like this
    const KeyRange range = read_key_range(key, node);
    // Each name has its stream, so one key's samples stay the same if another key is added.
    const std::uint64_t stream = std::strtoull(sha256(key).substr(0, 16).c_str(), nullptr, 16);
    for (std::size_t i = 0; i < axis.choices.size(); ++i) {
      const std::uint64_t bits = random_bits(static_cast<std::uint64_t>(options.generator), stream, i);
      axis.choices[i].emplace_back(key, value_of_key(range, random_value(range, bits), node.where()));
    }
    axis.keys.push_back(key);
  }
  if (!axis.keys.empty()) axes.push_back(std::move(axis));
}

/// Checks that no key is swept twice or lies inside another one.
void check_keys(const Yaml& sweep, const std::vector<SweepAxis>& axes) {
  std::vector<std::string> seen;
  for (const SweepAxis& axis : axes) {
    for (const std::string& key : axis.keys) {
      for (const std::string& other : seen) {
        if (key == other) fail_at(sweep, fmt::format("'{}' is swept twice", key));
        if (key.rfind(other + ".", 0) == 0 || other.rfind(key + ".", 0) == 0) {
          fail_at(sweep, fmt::format("'{}' and '{}' cannot both be swept: one is part of the other", other, key));
        }
      }
      seen.push_back(key);
    }
  }
}

}  // namespace

std::vector<SweepAxis> sweep_axes(const Yaml& sweep) {
  std::vector<SweepAxis> axes;
  if (const Yaml* grid = sweep.given("grid")) add_grid(*grid, axes);
  if (const Yaml* zip = sweep.given("zip")) {
    if (zip->is_sequence()) {
      for (const Yaml& block : zip->items) add_zip_block(block, axes);
    } else {
      add_zip_block(*zip, axes);
    }
  }
  if (const Yaml* random = sweep.given("random")) add_random(*random, axes);
  check_keys(sweep, axes);
  return axes;
}

}  // namespace xlm
