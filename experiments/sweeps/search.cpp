// Reads `sweep.search`.
#include "experiments/sweeps/search.h"

#include <array>

#include <fmt/format.h>

#include "base/lookup.h"
#include "base/options.h"
#include "base/random.h"
#include "experiments/sweeps/measure_direction.h"
#include "results/quantities/quantities.h"

namespace xlm {
namespace {

constexpr std::int64_t kMaximumTrials = 10'000;
constexpr std::int64_t kMaximumSeeds = 100;
constexpr std::array<std::string_view, 3> kSamplers{"tpe", "cmaes", "random"};
enum class Sampler { kTpe, kCmaes, kRandom };

/// Options of a search besides its keys and seeds.
struct SearchOptions {
  std::string measure;
  std::string better;
  std::int64_t trials = 0;
  std::int64_t together = 4;
  Sampler sampler = Sampler::kTpe;
  std::int64_t generator = 0;

  void visit(OptionVisitor& v) {
    v.field({.name = "measure", .help = "the column to improve: valid.bpc, valid.loss, …"}, measure);
    v.field({.name = "better", .help = "lower or higher, of a measure that the program does not know"}, better);
    v.field({.name = "trials", .help = "how many settings", .min = 1, .max = kMaximumTrials}, trials);
    v.field({.name = "together", .help = "settings of a round", .min = 1, .max = kMaximumTrials}, together);
    v.field({.name = "sampler", .help = "how Optuna chooses"}, sampler, kSamplers);
    v.field({.name = "generator", .help = "seed of the sampler", .min = 0, .max = 4e9}, generator);
  }
};

std::vector<KeyRange> read_keys(const Yaml& search, const Yaml& keys) {
  if (!keys.is_map()) fail_at(search, "sweep.search.keys must be a map of keys to ranges or lists of choices");
  std::vector<KeyRange> result;
  for (const auto& [name, node] : keys.entries) {
    if (node.is_null()) continue;  // a profile removes it like this
    if (name == "seed") fail_at(node, "sweep.search.keys names 'seed'\nsay how many with seeds: 3");
    for (const KeyRange& other : result) {
      if (name.starts_with(other.name + ".") || other.name.starts_with(name + ".")) {
        fail_at(node, fmt::format("'{}' and '{}' cannot both be searched: one is part of the other", other.name, name));
      }
    }
    result.push_back(read_key_range(name, node));
  }
  if (result.empty()) fail_at(search, "sweep.search.keys is empty: there is nothing to search");
  return result;
}

/// `seeds: 3` is 1, 2 and 3; a list is itself. Without it, the seed of the configuration.
std::vector<std::int64_t> read_seeds(const Yaml& tree, const Yaml& node) {
  if (node.is_null()) {
    const Yaml* seed = tree.find("seed");
    if (seed == nullptr) return {1};
    const Json own = to_json(*seed);
    if (!own.is_number_integer() || own < 0) fail_at(*seed, "'seed' must be a whole number that is not negative");
    return {own.get<std::int64_t>()};
  }
  std::vector<std::int64_t> seeds;
  const Json value = to_json(node);
  if (value.is_number_integer() && value >= 1 && value <= kMaximumSeeds) {
    for (std::int64_t seed = 1; seed <= value.get<std::int64_t>(); ++seed) seeds.push_back(seed);
    return seeds;
  }
  for (const Json& seed : value.is_array() ? value : Json::array()) {
    if (!seed.is_number_integer() || seed < 0) break;
    if (contains(seeds, seed.get<std::int64_t>())) break;
    seeds.push_back(seed.get<std::int64_t>());
  }
  if (seeds.empty() || seeds.size() != value.size() || seeds.size() > kMaximumSeeds) {
    fail_at(node, fmt::format("sweep.search.seeds must be a number from 1 to {} or a list of different seeds",
                              kMaximumSeeds));
  }
  return seeds;
}

/// Whether more is better, which the table of quantities knows of most measures, and programs declare of theirs.
bool is_higher_better(const Yaml& tree, const Yaml& search, const SearchOptions& options) {
  const auto column = evaluation_column(options.measure);
  if (!column) {
    fail_at(search, fmt::format("sweep.search.measure is '{}'; it must be a column of an evaluation, such as valid.bpc",
                                options.measure));
  }
  const bool said = !options.better.empty();
  const bool higher = options.better == kBetterNames[1];
  if (said && !higher && options.better != kBetterNames[0]) {
    fail_at(search, fmt::format("sweep.search.better is '{}'; it is lower or higher", options.better));
  }
  const std::optional<Better> known = direction_in(tree, column->name);
  if (!known) {
    if (!said) {
      fail_at(search, fmt::format("'{}' is not among the known quantities\nsay which way is better: better: lower, or "
                                  "better: higher\nor declare it for everything: program: {{better: {{{}: higher}}}}",
                                  options.measure, column->name));
    }
    return higher;
  }
  const bool is_higher = *known == Better::kHigher;
  if (said && is_higher != higher) {
    fail_at(search, fmt::format("sweep.search.better is '{}', but of {} {} is better", options.better, options.measure,
                                kBetterNames[static_cast<std::size_t>(*known)]));
  }
  return is_higher;
}

void refuse_other_parts(const Yaml& sweep) {
  for (const char* part : {"grid", "zip", "random", "include", "exclude"}) {
    const Yaml* node = sweep.given(part);
    if (node == nullptr) continue;
    fail_at(*node,
            fmt::format("sweep.search cannot be used with sweep.{}\ngive its keys to sweep.search.keys, or write "
                        "a file for each",
                        part));
  }
}

}  // namespace

std::optional<Search> read_search(const Yaml& configuration) {
  const Yaml* node = given_at(configuration, "sweep.search");
  if (node == nullptr) return std::nullopt;
  const Yaml& sweep = *configuration.find("sweep");
  if (!node->is_map()) fail_at(*node, "sweep.search must be a map with measure, trials, keys, …");
  refuse_other_parts(sweep);
  Yaml rest = *node;
  const Yaml keys = rest.take("keys");
  const Yaml seeds = rest.take("seeds");
  const auto options = options_in<SearchOptions>(rest);
  if (options.trials == 0) fail_at(*node, "sweep.search.trials is missing: how many settings to try");
  Search search{.measure = options.measure,
                .higher = is_higher_better(configuration, *node, options),
                .trials = options.trials,
                .together = options.together,
                .sampler = std::string(kSamplers.at(static_cast<std::size_t>(options.sampler))),
                .generator = options.generator,
                .seeds = read_seeds(configuration, seeds),
                .keys = read_keys(*node, keys),
                .place = node->where()};
  search.rules = PointRules(configuration, sweep, mapped(keys.entries, &Yaml::Entry::first));  // also removed ones
  const auto runs = static_cast<std::size_t>(search.trials) * search.seeds.size();  // at most 10,000 times 100
  if (runs > kMaximumPoints) fail_at(sweep, fmt::format("the search has more than {} runs", kMaximumPoints));
  return search;
}

void fix_in_search(Yaml& configuration, const FixedKey& fixed) {
  Yaml* sweep = configuration.find("sweep");
  Yaml* search = sweep == nullptr ? nullptr : sweep->find("search");
  if (search == nullptr || !search->is_map()) return;
  if (fixed.key == "seed") {
    Yaml seeds{.kind = Yaml::Kind::kSequence, .source = fixed.value.source, .line = fixed.value.line};
    seeds.items = {fixed.value};
    search->set("seeds", std::move(seeds));
  }
  Yaml* keys = search->find("keys");
  Yaml* range = keys == nullptr ? nullptr : keys->find(fixed.key);
  if (range != nullptr) *range = Yaml();
}

std::vector<SweepPoint> points_of_trial(const Search& search, const SearchSetting& setting) {
  SweepPoint point;
  for (std::size_t i = 0; i < search.keys.size(); ++i) {
    point.emplace_back(search.keys[i].name, value_of_key(search.keys[i], setting.at(i), search.place));
  }
  std::vector<SweepPoint> points;
  for (const std::int64_t seed : search.seeds) {
    points.push_back(point);
    points.back().emplace_back("seed", make_scalar(std::to_string(seed), search.place));
  }
  search.rules.apply(points);
  return points;
}

std::vector<SweepPoint> supposed_points(const Search& search) {
  std::vector<SweepPoint> points;
  for (std::size_t trial = 0; trial < static_cast<std::size_t>(search.trials); ++trial) {
    SearchSetting setting;
    for (std::size_t key = 0; key < search.keys.size(); ++key) {
      const auto bits = random_bits(static_cast<std::uint64_t>(search.generator), key, trial);
      setting.push_back(random_value(search.keys[key], bits));
    }
    for (SweepPoint& point : points_of_trial(search, setting)) points.push_back(std::move(point));
  }
  return points;
}

}  // namespace xlm
