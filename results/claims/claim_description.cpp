// What a recipe says that a paper claims.
#include "results/claims/claim_description.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "results/claims/side_formula.h"
#include "results/quantities/quantities.h"
#include "results/store/formula.h"
#include "results/store/variation.h"
#include "results/tables/printed_number.h"

namespace xlm {
namespace {

constexpr std::string_view kLetters = "abcdef";
constexpr std::size_t kMaxSides = 200;  // of one letter

double number_at(const Yaml& node, const std::string& key) {
  double value = 0;
  if (!node.is_scalar() || !parse_real(node.scalar, value) || !std::isfinite(value)) {
    fail_at(node, fmt::format("{} must be a number", key));
  }
  return value;
}

std::optional<double> number_of(const Yaml& claim, const std::string& key) {
  const Yaml* node = claim.find(key);
  return node == nullptr ? std::nullopt : std::optional(number_at(*node, key));
}

double distance_of(const Yaml& claim, const std::string& key, double otherwise) {
  const Yaml* node = claim.find(key);
  if (node == nullptr) return otherwise;
  const double value = number_at(*node, key);
  if (value < 0) fail_at(*node, fmt::format("{} is {}, it must not be below 0", key, node->scalar));
  return value;
}

std::int64_t whole_number_at(const Yaml& node, const std::string& key, std::int64_t least, std::int64_t most) {
  std::int64_t value = 0;
  if (!node.is_scalar() || !parse_integer(node.scalar, value) || value < least || value > most) {
    fail_at(node, fmt::format("{} must be a whole number from {} to {}", key, least, most));
  }
  return value;
}

/// The index of the word at `key` in `words`; nullopt if the key is not given.
template <std::size_t N>
std::optional<std::size_t> choice_of(const Yaml& claim, const std::string& key,
                                     const std::array<std::string_view, N>& words) {
  const Yaml* node = claim.find(key);
  if (node == nullptr) return std::nullopt;
  const std::string text = scalar_text(*node, key);
  const auto* const found = std::ranges::find(words, text);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  const std::vector<std::string> names(words.begin(), words.end());
  fail_at(*node, fmt::format("{} is '{}'{}, it must be {}", key, text, did_you_mean(text, names), join(names, " or ")));
}

/// The letter of a side: a or b.
std::optional<char> side_at(const Yaml& claim, const std::string& key) {
  constexpr std::array<std::string_view, 2> kBoth{"a", "b"};
  const std::optional<std::size_t> index = choice_of(claim, key, kBoth);
  return index ? std::optional(kLetters[*index]) : std::nullopt;
}

std::string text_of_setting(const Yaml& value) { return value.is_scalar() ? value.scalar : to_json(value).dump(); }

/// The conditions of a side by their columns, with their signs. In what a configuration is made with, a list is a value
/// and no choice.
std::vector<std::pair<std::string, std::string>> conditions_of_side(const ClaimSide& side, ClaimNeeds needs) {
  std::vector<std::pair<std::string, std::string>> conditions;
  if (needs == ClaimNeeds::kRuns) {
    for (const Filter& filter : side.where)
      conditions.emplace_back(filter.column, filter.text().substr(filter.column.size()));
  } else {
    for (const auto& [key, value] : side.settings.entries) {
      conditions.emplace_back(key, "=" + text_of_setting(value));
    }
  }
  return conditions;
}

/// A map of conditions, or {label: TEXT, where: {…}}.
ClaimSide read_side(const Yaml& node, char letter, ClaimNeeds needs) {
  if (!node.is_map()) fail_at(node, "a side must be a map of conditions, as {model.span: 1024}");
  ClaimSide side;
  side.letter = letter;
  const Yaml* where = node.find("where");
  const bool labelled = where != nullptr || node.find("label") != nullptr;
  if (labelled) refuse_unknown(node, {"label", "where"});
  if (const Yaml* label = node.find("label")) side.name = side.label = scalar_text(*label, "label");
  if (!labelled) {
    side.settings = node;
  } else if (where != nullptr) {
    side.settings = *where;
  } else {
    side.settings = make_map(*node.source);
  }
  if (!side.settings.is_map()) fail_at(side.settings, "'where' must be a map of conditions");
  if (needs == ClaimNeeds::kRuns) side.where = read_filters(side.settings);
  if (side.label.empty()) {
    std::vector<std::string> texts;
    for (const auto& [column, condition] : conditions_of_side(side, needs)) texts.push_back(column + condition);
    const char* otherwise = needs == ClaimNeeds::kRuns ? "all runs" : "as the file has it";
    side.label = texts.empty() ? otherwise : join(texts, ", ");
  }
  return side;
}

/// A word says itself what it is about; a number does not.
std::string condition_in_words(const std::string& column, std::string condition) {
  const std::string name = column_label(column.starts_with("options.") ? column.substr(8) : column);
  if (!condition.starts_with('=')) return name + " " + condition;
  condition.erase(0, 1);
  const bool is_word = std::holds_alternative<std::string>(to_value(condition)) && condition != "none";
  return is_word ? condition : name + " " + condition;
}

/// Names sides that the file does not name by the conditions that not all of them have.
void name_sides(ClaimDescription& claim) {
  const auto all_have = [&](const std::pair<std::string, std::string>& condition) {
    return claim.sides.size() > 1 && std::ranges::all_of(claim.sides, [&](const ClaimSide& side) {
             const auto conditions = conditions_of_side(side, claim.needs);
             return std::ranges::find(conditions, condition) != conditions.end();
           });
  };
  for (ClaimSide& side : claim.sides) {
    if (!side.name.empty()) continue;
    std::vector<std::string> words;
    for (const auto& condition : conditions_of_side(side, claim.needs)) {
      if (!all_have(condition)) words.push_back(condition_in_words(condition.first, condition.second));
    }
    side.name = words.empty() ? side.label : join(words, ", ");
  }
}

void read_sides(const Yaml& node, char letter, ClaimDescription& claim) {
  if (!node.is_sequence()) {
    claim.sides.push_back(read_side(node, letter, claim.needs));
    return;
  }
  if (node.items.empty()) fail_at(node, "a list of sides must not be empty");
  if (node.items.size() > kMaxSides) fail_at(node, fmt::format("at most {} sides are compared", kMaxSides));
  for (const Yaml& item : node.items) claim.sides.push_back(read_side(item, letter, claim.needs));
}

void read_all_sides(const Yaml& node, ClaimDescription& claim) {
  for (const char letter : kLetters) {
    if (const Yaml* side = node.find(std::string(1, letter))) read_sides(*side, letter, claim);
  }
  const Yaml* order = node.find("order");
  if (order == nullptr) return;
  if (!claim.sides.empty()) fail_at(*order, "'order' lists all sides, so 'a' and 'b' are left out");
  if (!order->is_sequence() || order->items.size() < 2) {
    fail_at(*order, "'order' must be a list of two sides or more, the best first");
  }
  read_sides(*order, 'a', claim);
}

void read_grid(const Yaml& node, ClaimGrid& grid) {
  if (node.is_scalar()) {
    grid.name = scalar_text(node, "grid");
    return;
  }
  if (!node.is_map()) fail_at(node, "'grid' must be a name, or a map of name, rows and as");
  refuse_unknown(node, {"name", "rows", "as"});
  const Yaml* name = node.find("name");
  if (name == nullptr) fail_at(node, "the grid has no name, such as spans");
  grid.name = scalar_text(*name, "name");
  if (const Yaml* rows = node.find("rows")) {
    if (!rows->is_sequence() || rows->items.size() != 2) fail_at(*rows, "'rows' must be [first, last], counted from 1");
    constexpr std::int64_t kMaxRows = 1'000'000;
    grid.first_row = whole_number_at(rows->items[0], "the first row", 1, kMaxRows);
    grid.last_row = whole_number_at(rows->items[1], "the last row", grid.first_row, kMaxRows);
  }
  if (const auto as = choice_of(node, "as", kGridReductionNames)) grid.as = static_cast<GridReduction>(*as);
}

void read_value(const Yaml& node, ClaimDescription& claim) {
  const Yaml* value = node.find("value");
  if (const Yaml* grid = node.find("grid")) {
    if (value != nullptr) fail_at(*grid, "a claim has a 'value' or a 'grid', not both");
    if (claim.needs == ClaimNeeds::kCosts) fail_at(*grid, "a grid comes from training: leave `needs: costs` out");
    read_grid(*grid, claim.grid);
    return;
  }
  if (value == nullptr)
    fail_at(node, fmt::format("the claim '{}' has no value: a column, such as test.bpc", claim.claim));
  claim.value = scalar_text(*value, "value");
  try {
    if (is_formula(claim.value)) (void)Formula(bound_to_sides(claim.value));
  } catch (const UsageError& error) {
    fail_at(*value, error.what());
  }
}

/// Which of the expectations the keys state; at most one.
void read_expectation(const Yaml& node, ClaimDescription& claim) {
  std::vector<std::string> stated;
  const auto states = [&](const char* key, Expectation expectation) {
    if (node.find(key) == nullptr) return false;
    stated.emplace_back(key);
    claim.expects = expectation;
    return true;
  };
  const auto from_side = [&](const char* key, Expectation expectation, Direction direction) {
    if (!states(key, expectation)) return;
    claim.b_is_better = *side_at(node, key) == 'b';
    claim.direction = direction;
  };
  from_side("better", Expectation::kBetter, Direction::kOfTheQuantity);
  from_side("lower", Expectation::kBetter, Direction::kLower);
  from_side("higher", Expectation::kBetter, Direction::kHigher);
  from_side("not_better", Expectation::kNotBetter, Direction::kOfTheQuantity);
  if (states("within", Expectation::kAlike)) claim.within = distance_of(node, "within", 0);
  if (states("order", Expectation::kOrder)) claim.direction = Direction::kOfTheQuantity;
  constexpr std::array<std::string_view, 4> kTrends{"rises", "falls", "tends to rise", "tends to fall"};
  if (states("trend", Expectation::kTrend)) {
    const std::size_t index = choice_of(node, "trend", kTrends).value_or(0);
    claim.rises = index % 2 == 0;
    claim.tends = index >= 2;
    if (const Yaml* scale = node.find("scale"); scale != nullptr && !claim.tends) {
      fail_at(*scale, "'scale' belongs to `trend: tends to rise` or `tends to fall`, which have a slope");
    }
  }
  claim.at_least = number_of(node, "at_least");
  claim.at_most = number_of(node, "at_most");
  if (claim.at_least || claim.at_most) {
    stated.emplace_back(claim.at_least ? "at_least" : "at_most");
    claim.expects = Expectation::kValue;
  }
  if (stated.size() > 1) {
    fail_at(node,
            fmt::format("the claim '{}' states {}: it must state one of them", claim.claim, join(stated, " and ")));
  }
  if (!stated.empty()) return;
  const bool two = !claim.sides_called('a').empty() && !claim.sides_called('b').empty();
  claim.expects = two && !claim.is_over_sides() && !claim.tolerance ? Expectation::kBetter : Expectation::kValue;
}

void check_limits(const Yaml& node, const ClaimDescription& claim) {
  if (claim.expects != Expectation::kValue) {
    if (claim.tolerance)
      fail_at(*node.find("tolerance"), "'tolerance' belongs to a claim that is a printed value alone");
    return;
  }
  if (!claim.at_least && !claim.at_most && claim.printed.empty()) {
    fail_at(node, fmt::format("the claim '{}' does not say what has to come out\n"
                              "give `better: a` for two sides, or at_least, at_most or printed",
                              claim.claim));
  }
  if (claim.at_least && claim.at_most && *claim.at_least > *claim.at_most) {
    fail_at(*node.find("at_most"), "at_most is below at_least");
  }
}

/// A key that changes nothing was meant to.
void refuse_without_effect(const Yaml& node, const ClaimDescription& claim) {
  const bool has_margin = claim.expects != Expectation::kValue && claim.expects != Expectation::kAlike;
  if (const Yaml* margin = node.find("margin"); margin != nullptr && !has_margin) {
    fail_at(*margin,
            "'margin' belongs to a comparison or a trend; of a value at_least, at_most, within or tolerance say the "
            "limits");
  }
  if (const Yaml* scale = node.find("scale"); scale != nullptr && claim.expects != Expectation::kTrend) {
    fail_at(*scale, "'scale' belongs to a trend: add `trend: tends to rise` or `tends to fall`");
  }
  if (const Yaml* runs = node.find("printed_runs"); runs != nullptr && claim.printed.empty()) {
    fail_at(*runs, "'printed_runs' needs 'printed', the number that these runs have");
  }
  for (const ClaimSide& side : claim.sides) {
    const std::string key(1, side.letter);
    const std::vector<char> named = claim.is_over_sides() ? letters_in(claim.value) : std::vector<char>{'a', 'b'};
    const bool has_effect = std::ranges::find(named, side.letter) != named.end();
    if (has_effect || node.find(key) == nullptr) continue;
    fail_at(*node.find(key), fmt::format("nothing in the claim names the side [{}]: a formula of 'value' may", key));
  }
}

/// Which sides each kind of claim needs.
void check_sides(const Yaml& node, const ClaimDescription& claim) {
  const bool has_a = !claim.sides_called('a').empty();
  const bool has_b = !claim.sides_called('b').empty();
  const bool compares = claim.expects == Expectation::kBetter || claim.expects == Expectation::kNotBetter ||
                        claim.expects == Expectation::kAlike;
  if (compares && (!has_a || !has_b || claim.is_over_sides())) {
    fail_at(node, fmt::format("the claim '{}' compares, so it needs the sides 'a' and 'b' and a value of single runs",
                              claim.claim));
  }
  if (!claim.nearest.empty() && (!compares || claim.needs == ClaimNeeds::kCosts)) {
    fail_at(*node.find("nearest"), "'nearest' chooses among runs of 'b' that 'a' is compared with");
  }
  if (claim.expects == Expectation::kTrend && claim.along.empty()) {
    fail_at(*node.find("trend"), "a trend needs `along: COLUMN`, the column along which it goes");
  }
  if (claim.expects != Expectation::kTrend && !claim.along.empty()) {
    fail_at(*node.find("along"), "'along' belongs to a trend: add `trend: rises` or `trend: falls`");
  }
  if (claim.expects == Expectation::kTrend && claim.needs == ClaimNeeds::kCosts) {
    fail_at(*node.find("trend"), "a trend needs runs: leave `needs: costs` out");
  }
  if (!claim.is_over_sides()) return;
  for (const char letter : letters_in(claim.value)) {
    const std::size_t count = claim.sides_called(letter).size();
    if (count == 1) continue;
    fail_at(node, fmt::format("the value names [{0}], so the claim needs {1} under '{0}'", letter,
                              count == 0 ? "a side" : "one side alone"));
  }
}

void read_printed_claim(const Yaml& node, ClaimDescription& claim) {
  if (const Yaml* printed = node.find("printed")) {
    claim.printed = scalar_text(*printed, "printed");
    if (!printed_number(claim.printed, NumberFormat::kNumber)) {
      fail_at(*printed, fmt::format("printed is '{}', which is no number", claim.printed));
    }
  }
  if (const Yaml* tolerance = node.find("tolerance")) {
    if (claim.printed.empty()) fail_at(*tolerance, "'tolerance' needs 'printed', the number around which it lies");
    claim.tolerance = distance_of(node, "tolerance", 0);
  }
  constexpr std::int64_t kMaxRuns = 1'000'000;
  if (const Yaml* runs = node.find("printed_runs")) {
    claim.printed_runs = whole_number_at(*runs, "printed_runs", 1, kMaxRuns);
  }
  if (!claim.printed.empty() && claim.printed_runs < 2 &&
      printed_number(claim.printed, NumberFormat::kNumber)->deviation) {
    fail_at(*node.find("printed"), fmt::format("printed is '{}', with a standard deviation, but of one run\n"
                                               "say how many runs the paper makes: printed_runs: 3",
                                               claim.printed));
  }
}

/// own, pooled, {from: EXPERIMENT}, or {deviation: D, freedom: F}.
void read_spread(const Yaml& claim, ClaimSpread& spread) {
  const Yaml* node = claim.find("spread");
  if (node == nullptr) return;
  if (node->is_map()) {
    refuse_unknown(*node, {"from", "deviation", "freedom"});
    const Yaml* from = node->find("from");
    const std::optional<double> deviation = number_of(*node, "deviation");
    const std::optional<double> freedom = number_of(*node, "freedom");
    if (from != nullptr && !deviation && !freedom) {
      spread.is_pooled = true;
      spread.from = scalar_text(*from, "from");
    } else if (from == nullptr && deviation.value_or(0) > 0 && freedom.value_or(0) >= 1) {
      spread.stated = SpreadEstimate{*deviation, *freedom};
    } else {
      fail_at(*node, "'spread' must be {from: EXPERIMENT}, or {deviation: ABOVE 0, freedom: AT LEAST 1}");
    }
  } else {
    constexpr std::array<std::string_view, 2> kWords{"own", "pooled"};
    spread.is_pooled = choice_of(claim, "spread", kWords) == 1;
  }
}

void check_spread(const Yaml& node, const ClaimDescription& claim) {
  if (!claim.spread.is_pooled && !claim.spread.stated) return;
  if (claim.needs == ClaimNeeds::kCosts || claim.expects == Expectation::kTrend || claim.is_over_sides() ||
      claim.over != "seed") {
    fail_at(*node.find("spread"),
            "'spread' is of numbers of runs that differ in the seed: not of trends, of formulas over sides, of "
            "`needs: costs`, or of another 'over'");
  }
}

std::string text_at(const Yaml& node, const char* key) {
  const Yaml* value = node.find(key);
  return value == nullptr ? "" : scalar_text(*value, key);
}

}  // namespace

bool ClaimDescription::is_over_sides() const { return is_formula(value) && !letters_in(value).empty(); }

std::vector<const ClaimSide*> ClaimDescription::sides_called(char letter) const {
  std::vector<const ClaimSide*> called;
  for (const ClaimSide& side : sides) {
    if (side.letter == letter) called.push_back(&side);
  }
  return called;
}

const std::vector<std::string>& claim_keys() {
  static const std::vector<std::string> keys{
      "claim",      "name",    "value",   "grid",      "where",        "a",      "b",
      "c",          "d",       "e",       "f",         "better",       "lower",  "higher",
      "not_better", "margin",  "within",  "order",     "trend",        "along",  "scale",
      "at_least",   "at_most", "printed", "tolerance", "printed_runs", "each",   "over",
      "digits",     "needs",   "notes",   "nearest",   "choose",       "spread", "seeds",
      "family"};
  return keys;
}

ClaimDescription read_claim_description(const Yaml& node) {
  refuse_unknown(node, claim_keys());
  ClaimDescription claim;
  claim.place = node.where();
  const Yaml* text = node.find("claim");
  if (text == nullptr) fail_at(node, "the claim says nothing (claim: TEXT)");
  claim.claim = scalar_text(*text, "claim");
  claim.name = node.find("name") != nullptr ? text_at(node, "name") : name_from_title(claim.claim);
  if (const auto needs = choice_of(node, "needs", kClaimNeedsNames)) claim.needs = static_cast<ClaimNeeds>(*needs);
  if (const auto scale = choice_of(node, "scale", kTrendScaleNames)) claim.scale = static_cast<TrendScale>(*scale);
  if (const Yaml* where = node.find("where")) {
    if (!where->is_map()) fail_at(*where, "'where' must be a map of conditions");
    claim.settings = *where;
    if (claim.needs == ClaimNeeds::kRuns) claim.where = read_filters(*where);
  }
  claim.margin = distance_of(node, "margin", 0);
  claim.family = text_at(node, "family");
  claim.along = text_at(node, "along");
  claim.each = text_at(node, "each");
  claim.nearest = text_at(node, "nearest");
  if (node.find("over") != nullptr) claim.over = text_at(node, "over");
  if (const Yaml* choose = node.find("choose"); choose != nullptr && !choose->is_null()) {
    if (claim.needs == ClaimNeeds::kCosts) fail_at(*choose, "'choose' needs runs: leave `needs: costs` out");
    claim.choose = read_selection(*choose);
  }
  if (const Yaml* digits = node.find("digits")) claim.digits = whole_number_at(*digits, "digits", 0, 12);
  if (claim.needs == ClaimNeeds::kCosts && !claim.each.empty()) {
    fail_at(*node.find("each"), "'each' needs runs: leave `needs: costs` out");
  }
  read_all_sides(node, claim);
  name_sides(claim);
  read_value(node, claim);
  read_printed_claim(node, claim);
  read_expectation(node, claim);
  check_limits(node, claim);
  check_sides(node, claim);
  refuse_without_effect(node, claim);
  if (const Yaml* seeds = node.find("seeds")) {
    constexpr std::int64_t kMaxSeeds = 10'000;
    claim.planned = whole_number_at(*seeds, "seeds", 2, kMaxSeeds);
    if (claim.needs == ClaimNeeds::kCosts || claim.over != "seed") {
      fail_at(*seeds, "'seeds' is a plan of runs that differ in the seed: not of `needs: costs`, or of another 'over'");
    }
  }
  read_spread(node, claim.spread);
  check_spread(node, claim);
  if (const Yaml* notes = node.find("notes")) claim.notes = read_texts(*notes, "a note");
  return claim;
}

}  // namespace xlm
