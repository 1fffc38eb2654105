// What the runs of a store say of a claim.
#include "results/claims/judged_claim.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "results/claims/part_numbers.h"
#include "results/claims/side_numbers.h"
#include "results/judgement/plan.h"
#include "results/quantities/number_format.h"
#include "results/store/shown_runs.h"
#include "results/store/variation.h"
#include "results/tables/printed_number.h"

namespace xlm {
namespace {

constexpr double kRefuted = 0.05;  // corrected p below which one part refutes the whole claim

class ClaimJudge {
 public:
  /// The verdict of the look `look`: by its seeds and those before it. `level`: that its p has to be below; 1: it is
  /// the only look.
  ClaimJudge(RunTable& runs, const ClaimDescription& claim, const ClaimContext& context, std::int64_t look,
             double level)
      : runs_(runs),
        claim_(claim),
        context_(context),
        look_(look),
        level_(level),
        reader_(runs, claim, context, report_, look) {}

  JudgedClaim judge() {
    JudgedClaim judged{.description = claim_, .look = look_};
    std::vector<PartNumber> numbers = numbers_of_parts(runs_, claim_, reader_);
    for (PartNumber& number : numbers) {
      decide(number);
      leave_if_smaller(number.part);
    }
    conclude(numbers, judged);
    try_margins(numbers, judged);
    if (numbers.size() == 1) judged.against = against_printed(numbers.front());
    if (judged.against) judged.paper = paper_mean().value;
    for (PartNumber& number : numbers) judged.parts.push_back(std::move(number.part));
    if (judged.parts.empty()) {
      judged.parts.push_back({.label = claim_.each, .missing = fmt::format("no run has a value of {}", claim_.each)});
    }
    judged.notes = notes_of(judged);
    return judged;
  }

  /// How many looks there were after the first: of the setting with the fewest, as others may have more seeds for the
  /// sake of other claims. Nothing: xlm decide made none of its runs.
  std::optional<std::int64_t> looks() const {
    std::map<std::string, std::int64_t> by_setting;
    const std::vector<Value>& settings = runs_.column("seed_group");
    bool has_any = false;
    for (const std::size_t row : report_.used) {
      const std::int64_t look = look_of(runs_, row);
      std::int64_t& most = by_setting[to_text(settings[row])];
      most = std::max(most, look);
      has_any = has_any || look > 0;
    }
    if (!has_any) return std::nullopt;
    std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
    for (const auto& [setting, look] : by_setting) fewest = std::min(fewest, look);
    return std::min(fewest, report_.open_look - 1);  // a part of a look decides nothing
  }

 private:
  void decide(PartNumber& number) const {
    ClaimPart& part = number.part;
    if (number.estimate.seeds == 0) return;
    const LimitsTest test = tested(number.estimate, number.limits);
    part.value = number.estimate.value;
    part.limits = number.limits;
    part.seeds = number.estimate.is_exact() ? 0 : number.estimate.seeds;
    part.is_exact = number.estimate.is_exact();
    part.half_width = half_width_of(number.estimate, kLevel);
    part.p = test.p;
    part.verdict = verdict_on_claim(test.decision);
    for (const Estimate& worst : number.worst) {
      const Verdict verdict = verdict_on_claim(tested(worst, number.limits).decision);
      if (!part.worst_case || verdict != part.verdict) part.worst_case = verdict;
    }
    if (number.own) {
      const Verdict by_own = verdict_on_claim(tested(*number.own, number.limits).decision);
      if (by_own != part.verdict || part.seeds <= kTooFewForNoise) part.by_own = by_own;
    }
    wait_for_plan(number);
    if (part.verdict != Verdict::kUndecided || part.is_a_look()) return;
    part.seeds_to_decide = is_of_printed_runs(number.estimate)
                               ? range_to_decide(own_mean_of(number.estimate), paper_mean(), printed_limits(), 1)
                               : range_to_decide(number.estimate, number.limits);
  }

  /// Before all planned seeds are there, a look decides nothing, so that looking again and again is no further chance.
  void wait_for_plan(PartNumber& number) const {
    ClaimPart& part = number.part;
    if (part.is_exact) part.planned = 0;
    if (!part.is_a_look()) return;
    constexpr double kHardly = 0.05;
    const Estimate& seen = number.estimate;
    part.verdict = Verdict::kUndecided;
    part.by_own.reset();
    part.worst_case.reset();
    const bool is_of_one_sample = part.is_paired || !part.is_of_two_sides;
    part.is_futile = is_of_one_sample && !seen.is_shared && seen.freedom > 0 && !is_of_printed_runs(seen) &&
                     chance_within(seen, part.planned, number.limits) < kHardly;
  }

  /// Whether the number that a paper prints is all that the claim says.
  bool is_printed_alone() const { return claim_.expects == Expectation::kValue && !claim_.at_least && !claim_.at_most; }

  /// Such a number is of runs, and not exact itself. It is judged as in tables: by the difference of two means of runs.
  /// Without a tolerance nothing confirms it, for no interval is so narrow.
  bool is_of_printed_runs(const Estimate& ours) const { return is_printed_alone() && !ours.is_exact(); }
  Limits printed_limits(double margins = 1) const { return Limits::within(margins * claim_.tolerance.value_or(0)); }

  /// `margins`: how many of the claim's own margins are allowed.
  LimitsTest tested(const Estimate& estimate, const Limits& limits, double margins = 1) const {
    if (!is_of_printed_runs(estimate)) return test_limits(estimate, with_margins(limits, margins));
    if (!estimate.has_error()) return {};
    return test_limits(difference_from_printed(own_mean_of(estimate), paper_mean()), printed_limits(margins));
  }

  bool has_margin() const {
    return claim_.margin > 0 || claim_.within.value_or(0) > 0 ||
           (is_printed_alone() && claim_.tolerance.value_or(0) > 0);
  }

  /// Limits of a difference are multiples of its margin; those of a value may lie around a printed one.
  Limits with_margins(Limits limits, double margins) const {
    if (margins == 1) return limits;
    if (claim_.expects != Expectation::kValue) return {limits.low * margins, limits.high * margins, limits.open};
    const double further = (margins - 1) * claim_.tolerance.value_or(0);
    return {limits.low - further, limits.high + further, limits.open};
  }

  /// Whether another margin would have led to another verdict. A look decides nothing at any.
  void try_margins(const std::vector<PartNumber>& numbers, JudgedClaim& judged) const {
    if (!has_margin() || judged.verdict == Verdict::kNotTried) return;
    for (const auto& [margins, verdict] :
         {std::pair(0.5, &judged.at_half_margin), std::pair(2.0, &judged.at_twice_margin)}) {
      std::vector<PartVerdict> parts;
      for (const PartNumber& number : numbers) {
        if (number.part.is_a_look()) return;
        if (number.part.verdict == Verdict::kNotTried) {
          parts.emplace_back(Verdict::kNotTried, 1);
          continue;
        }
        const LimitsTest test = tested(number.estimate, number.limits, margins);
        parts.emplace_back(verdict_on_claim(test.decision), test.p.value_or(0));
      }
      *verdict = whole_of(parts).verdict;
    }
  }

  /// What a paper prints, a − b for two sides.
  PrintedMean paper_mean() const {
    const PrintedNumber printed = *printed_number(claim_.printed, NumberFormat::kNumber);
    return {.value = *printed_value(claim_),
            .rounding = printed.rounding,
            .runs = claim_.printed_runs,
            .deviation = printed.deviation};
  }

  static OwnMean own_mean_of(const Estimate& ours) {
    const double deviation = ours.error * std::sqrt(static_cast<double>(ours.seeds));
    return {.value = ours.value,
            .runs = ours.seeds,
            .spread = {.deviation = deviation, .freedom = ours.freedom},
            .rounding = ours.rounding,
            .is_pooled = ours.is_shared};
  }

  /// Whether the runs behind a part are configured as runs of the paper; configurations are.
  bool is_as_the_papers(const ClaimPart& part) const {
    return context_.paper == nullptr || part.rows.empty() ||
           context_.paper->keys_apart(runs_, part.rows, {}, {}).empty();
  }

  /// A printed number alone is of the paper's sizes; of other runs it says nothing.
  void leave_if_smaller(ClaimPart& part) const {
    if (!is_printed_alone() || !part.value || is_as_the_papers(part)) return;
    part.verdict = Verdict::kNotTried;
    part.seeds_to_decide.reset();
    part.by_own.reset();
    part.missing = "the runs are not configured as the paper's";
  }

  using PartVerdict = std::pair<Verdict, double>;  // with its p
  struct Whole {
    Verdict verdict = Verdict::kNotTried;
    double p = 0;
    std::vector<double> refuting;    // corrected, of each part that was tried
    std::optional<double> too_weak;  // its p, if it is undecided only because seeds were added after looks
  };

  /// A claim holds where each of its parts does, so no part needs a correction for that. It is refuted where one part
  /// is; of many parts one would be by chance, so these are corrected.
  Whole whole_of(const std::vector<PartVerdict>& parts) const {
    Whole whole;
    bool is_confirmed = true;
    for (const auto& [verdict, p] : parts) {
      is_confirmed = is_confirmed && verdict == Verdict::kConfirmed;
      if (verdict == Verdict::kNotTried) continue;
      whole.refuting.push_back(verdict == Verdict::kRefuted ? p : 1);
      whole.p = std::max(whole.p, p);
    }
    if (whole.refuting.empty()) return whole;
    whole.refuting = holm(whole.refuting);
    const double refuted = *std::ranges::min_element(whole.refuting);
    whole.verdict = is_confirmed ? Verdict::kConfirmed : refuted <= kRefuted ? Verdict::kRefuted : Verdict::kUndecided;
    if (!is_confirmed) whole.p = refuted;
    if (whole.verdict == Verdict::kUndecided || whole.p < level_) return whole;
    whole.verdict = Verdict::kUndecided;
    whole.too_weak = std::exchange(whole.p, 1);
    return whole;
  }

  /// A part that only the correction keeps from being refuted is undecided.
  void conclude(std::vector<PartNumber>& numbers, JudgedClaim& judged) {
    std::vector<PartVerdict> parts;
    bool has_p = false;
    for (const PartNumber& number : numbers) {
      parts.emplace_back(number.part.verdict, number.part.p.value_or(0));
      has_p = has_p || number.part.p.has_value();
    }
    const Whole whole = whole_of(parts);
    if (whole.refuting.empty()) return;
    judged.verdict = whole.verdict;
    if (has_p) judged.p = whole.p;
    judged.too_weak = whole.too_weak;
    auto corrected = whole.refuting.begin();
    for (PartNumber& number : numbers) {
      ClaimPart& part = number.part;
      if (part.verdict == Verdict::kNotTried) continue;
      if (judged.too_weak && !part.is_exact) part.verdict = Verdict::kUndecided;
      const bool is_refuted = *corrected++ <= kRefuted;
      if (part.verdict != Verdict::kRefuted || is_refuted) continue;
      part.verdict = Verdict::kUndecided;
      part.is_refuted_alone = true;
    }
  }

  std::optional<Verdict> against_printed(const PartNumber& number) const {
    if (claim_.printed.empty() || !number.part.value) return std::nullopt;
    if (!is_as_the_papers(number.part)) return Verdict::kNotComparable;
    const Estimate& ours = number.estimate;
    if (!ours.has_error()) return Verdict::kUndecided;
    const PrintedMean paper = paper_mean();
    Estimate difference = ours;
    if (ours.is_exact()) {
      difference.value -= paper.value;
      difference.rounding = paper.rounding;
    } else {
      difference = difference_from_printed(own_mean_of(ours), paper);
    }
    return verdict_on_printed(test_limits(difference, printed_limits()).decision, false);
  }

  std::vector<std::string> notes_of(const JudgedClaim& judged) const {
    std::vector<std::string> notes = claim_.notes;
    for (std::string& note : choice_notes(claim_.choose, {report_.choices.begin(), report_.choices.end()})) {
      notes.push_back(std::move(note));
    }
    if (std::string bias = note_on_choice(); !bias.empty()) notes.push_back(std::move(bias));
    if (judged.too_weak) {
      notes.push_back(
          fmt::format("xlm decide looks again and again, so p has to be below {:.2g} at look {}. It is {}, which one "
                      "look would have "
                      "decided.",
                      level_, look_ + 1, p_text(*judged.too_weak)));
    }
    if (!report_.later.empty()) {
      notes.push_back(fmt::format("{} that xlm decide made for later looks of other claims: left out here",
                                  counted(report_.later.size(), "run")));
    }
    if (!report_.left_out.empty()) notes.push_back(left_out_note(report_.left_out));
    std::string unfrozen = notes_on_runs(runs_, {report_.used.begin(), report_.used.end()}, {claim_.value});
    if (!unfrozen.empty()) notes.push_back(std::move(unfrozen));
    for (const ClaimPart& part : judged.parts) {
      for (const std::string& note : part.left_out) {
        if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
      }
      if (part.is_of_other_data) {
        notes.push_back(
            fmt::format("{}: the sides were measured on different data, as their conditions ask", part.label));
      }
      if (part.is_of_other_code) {
        notes.push_back(fmt::format("{}: the sides were run with different versions of the program's code ({})",
                                    part.label, kProgramFingerprint));
      }
      constexpr std::size_t kMaxNamedKeys = 4;
      if (!part.differ_in.empty()) {
        notes.push_back(fmt::format("{}: the sides differ in {}, too, of which the claim says nothing", part.label,
                                    listed_names(part.differ_in, kMaxNamedKeys)));
      }
      if (part.mixes.empty()) continue;
      notes.push_back(fmt::format("{}: runs of one side differ in {}; conditions of the sides choose among them",
                                  part.label, listed_names(part.mixes, kMaxNamedKeys)));
    }
    return notes;
  }

  /// What it does to a number that the same seeds choose and judge.
  std::string note_on_choice() const {
    std::size_t most = 0;
    for (const auto& [side, choice] : report_.choices) {
      for (const ChosenSetting& setting : choice.settings) most = std::max(most, setting.candidates);
    }
    if (most < 2 || !claim_.choose.on.empty()) return "";
    return fmt::format(
        "The same {}s choose and judge. The best of {} equal settings looks better than it is by up to {} standard "
        "errors; `choose: {{…, on: [SEEDS]}}` lets others judge.",
        claim_.over, most, with_digits(expected_lead(most), 2));
  }

  RunTable& runs_;
  const ClaimDescription& claim_;
  const ClaimContext& context_;
  std::int64_t look_;
  double level_;
  SideReport report_;
  SideReader reader_;
};

}  // namespace

JudgedClaim judge_claim(RunTable& runs, const ClaimDescription& description, const ClaimContext& context) {
  ClaimJudge judge_of_all(runs, description, context, kAllLooks, 1);
  JudgedClaim judged = judge_of_all.judge();
  const std::optional<std::int64_t> looks = judge_of_all.looks();
  if (!looks || description.planned > 0) {  // of a plan, that of all its seeds decides
    judged.look = 0;
    return judged;
  }
  for (std::int64_t look = 0; look <= *looks; ++look) {
    judged = ClaimJudge(runs, description, context, look, level_of_look(look)).judge();
    if (judged.verdict == Verdict::kConfirmed || judged.verdict == Verdict::kRefuted) break;
  }
  return judged;
}

std::optional<double> printed_value(const ClaimDescription& claim) {
  if (claim.printed.empty()) return std::nullopt;
  const double value = printed_number(claim.printed, NumberFormat::kNumber)->value;
  const bool is_turned = claim.b_is_better && claim.expects != Expectation::kValue;
  return is_turned ? -value : value;
}

bool fulfils(const PlannedPoint& point, const std::vector<Filter>& filters, bool if_open) {
  return std::ranges::all_of(filters, [&](const Filter& filter) {
    const auto value = point.find(filter.column);
    return value == point.end() ? if_open : filter.holds_for(to_value(value->second));
  });
}

std::int64_t look_of(RunTable& runs, std::size_t row) {
  std::int64_t look = 0;
  for (const std::string& tag : split(to_text(runs.column("tag")[row]), ',')) {
    const std::string_view name = trim(tag);
    std::int64_t number = 0;
    if (name.starts_with(kLookTag) && parse_integer(name.substr(std::string_view(kLookTag).size()), number)) {
      look = std::max(look, number);
    }
  }
  return look;
}

std::vector<std::string> runs_of(const JudgedClaim& claim) {
  std::vector<std::string> runs;
  for (const ClaimPart& part : claim.parts) {
    for (const std::string& run : part.runs) {
      if (std::ranges::find(runs, run) == runs.end()) runs.push_back(run);
    }
  }
  return runs;
}

namespace {

/// Whether chance has a part in a verdict.
bool is_of_chance(const JudgedClaim& claim) { return claim.p && claim.verdict != Verdict::kNotTried; }

}  // namespace

std::string chance_note(const std::vector<const JudgedClaim*>& claims) {
  std::map<std::string, std::vector<double>> families;  // their p, in the order of the claims
  std::size_t tried = 0;
  for (const JudgedClaim* claim : claims) {
    if (!is_of_chance(*claim)) continue;
    families[claim->description.family].push_back(*claim->p);
    ++tried;
  }
  if (tried < 2) return "";
  std::map<std::string, std::vector<double>> all;
  std::map<std::string, std::vector<double>> share;
  for (const auto& [family, p] : families) {
    all[family] = holm(p);
    share[family] = benjamini_hochberg(p);
  }
  std::vector<std::string> names;
  std::size_t decided = 0;
  std::size_t in_share = 0;
  std::map<std::string, std::size_t> next;  // of each family
  for (const JudgedClaim* claim : claims) {
    if (!is_of_chance(*claim)) continue;
    const std::string& family = claim->description.family;
    const std::size_t place = next[family]++;
    if (*claim->p > kRefuted) continue;
    ++decided;
    if (share[family][place] <= kRefuted) ++in_share;
    if (all[family][place] > kRefuted) names.push_back(claim->description.name);
  }
  std::string text = fmt::format("{} claims were tried by seeds. If none held, up to {} would be confirmed by chance.",
                                 tried, with_digits((1 - kLevel) / 2 * static_cast<double>(tried), 2));
  if (decided == 0) return text;
  text += fmt::format(
      " {} {} confirmed or refuted; with Holm's correction for {} it is {}, with Benjamini and Hochberg's {} "
      "(at most 5 % of them false).",
      decided, decided == 1 ? "is" : "are", families.size() == 1 ? "all" : "each family", decided - names.size(),
      in_share);
  constexpr std::size_t kMaxNames = 6;
  return names.empty() ? text : text + fmt::format(" By chance alone may be: {}.", listed_names(names, kMaxNames));
}

namespace {

/// "Written down before the runs: 3 registered, 1 changed since."; empty if no claim has a record.
std::string counted_registrations(const std::vector<const JudgedClaim*>& claims) {
  std::map<std::string, int> counts;
  bool has_any = false;
  for (const JudgedClaim* claim : claims) {
    const std::string word = claim->registered.substr(0, claim->registered.find(':'));
    has_any = has_any || !word.empty();
    ++counts[word.empty() ? "without a record" : word];
  }
  std::vector<std::string> parts;
  for (const auto& [word, count] : counts) parts.push_back(fmt::format("{} {}", count, word));
  return has_any ? fmt::format("Records of these claims: {}.", join(parts, ", ")) : "";
}

}  // namespace

std::vector<std::string> notes_on_all(const std::vector<const JudgedClaim*>& claims) {
  constexpr std::int64_t kShownBySigns = 6;  // with five, p of a test that flips signs is at least 2/32
  std::vector<std::string> notes;
  if (std::string counts = counted_registrations(claims); !counts.empty()) notes.push_back(std::move(counts));
  if (std::string chance = chance_note(claims); !chance.empty()) notes.push_back(std::move(chance));
  const auto rests_on_normality = [](const ClaimPart& part) {
    const bool is_decided = part.verdict == Verdict::kConfirmed || part.verdict == Verdict::kRefuted;
    return is_decided && part.seeds > 0 && part.seeds < kShownBySigns && (part.is_paired || !part.is_of_two_sides);
  };
  if (std::ranges::any_of(
          claims, [&](const JudgedClaim* claim) { return std::ranges::any_of(claim->parts, rests_on_normality); })) {
    notes.emplace_back(
        "With fewer than six seeds, a verdict assumes that seeds vary normally: signs alone never show 5 % with so "
        "few.");
  }
  return notes;
}

ClaimCounts count_claims(const std::vector<JudgedClaim>& claims) {
  ClaimCounts counts{};
  for (const JudgedClaim& claim : claims) ++counts.at(static_cast<std::size_t>(claim.verdict));
  return counts;
}

}  // namespace xlm
