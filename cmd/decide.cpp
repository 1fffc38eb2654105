// xlm decide: the seeds that undecided claims need, until these are decided or a budget is spent.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/stop.h"
#include "base/text.h"
#include "cmd/claims_view.h"
#include "cmd/command.h"
#include "cmd/results_store.h"
#include "cmd/sweep_launch.h"
#include "cmd/try_text.h"
#include "experiments/configuration/configuration.h"
#include "experiments/runs/runs_in_use.h"
#include "experiments/runs/submission.h"
#include "experiments/sweeps/sweep_plan.h"
#include "experiments/sweeps/try_budget.h"
#include "results/claims/claim_text.h"
#include "results/judgement/plan.h"
#include "results/quantities/number_format.h"
#include "results/run_folder/remark.h"
#include "results/run_folder/run_folder.h"

namespace xlm {
namespace {

constexpr double kLevelOfPlan = 0.05;  // it has one look

struct DecideCommand : RecipeOptions {
  fs::path file;
  std::vector<std::string> overrides;
  std::string spend;
  std::string launcher = "local";
  std::int64_t jobs = 0;
  fs::path site;
};

/// Seeds of the recipe. Two settings may have others, and other numbers of them.
struct OwnSeeds {
  std::map<std::string, std::int64_t> counts;  // by setting
  std::int64_t most = 0;                       // of a setting
  std::int64_t last = 0;

  /// The look for which a run was made; 0: it is of the recipe.
  std::int64_t look_of(const SweepRun& run) const {
    const auto count = counts.find(run.setting);
    const std::int64_t seed = run.planned.options.seed;
    if (count == counts.end() || seed <= last) return 0;
    std::int64_t look = 0;
    while ((most << look) < count->second + seed - last) ++look;
    return look;
  }
};

/// A claim and what more seeds of it would take.
struct OpenClaim {
  JudgedClaim judged;
  std::int64_t seeds = 0;  // of each side now
  double level = 0;        // that its p has to be below, at so many seeds
  bool is_decided = false;
  std::string why_not;          // no more seeds are run
  std::vector<SweepRun> more;   // that the next look needs
  std::int64_t next_seeds = 0;  // then
  OwnSeeds own;
  TryCost cost;  // expected

  const std::string& name() const { return judged.description.name; }
};

bool has_verdict(const JudgedClaim& judged) {
  return judged.verdict == Verdict::kConfirmed || judged.verdict == Verdict::kRefuted;
}

/// The fewest seeds that may decide a part, around its value or an end of its interval. Nothing if more than 10,000.
std::optional<std::int64_t> fewest_seeds(const ClaimPart& part) {
  std::optional<std::int64_t> fewest;
  if (!part.seeds_to_decide) return part.seeds <= 2 ? std::optional<std::int64_t>(part.seeds + 1) : std::nullopt;
  const SeedsToDecide& range = *part.seeds_to_decide;
  for (const std::optional<std::int64_t>& seeds : {range.seeds, range.at_low, range.at_high}) {
    if (seeds && (!fewest || *seeds < *fewest)) fewest = seeds;
  }
  return fewest;
}

class Decider {
 public:
  Decider(const DecideCommand& command, const GlobalOptions& global)
      : command_(command),
        global_(global),
        quiet_(global),
        recipe_(recipe_of(read_configuration(command.file, command.profile, command.overrides), command.overrides)),
        view_(read_recipe(command.file, options_of(command, recipe_.experiment))),
        budget_(command.spend, "--spend") {
    quiet_.json = false;
    quiet_.quiet = global.quiet || !global.standard_error.is_terminal;
    if (recipe_.search) throw UsageError("decide adds seeds to settings, and a search chooses settings");
  }

  int run() {
    own_ = plan_sweep(recipe_, global_.runs, false, {.choose = choose_in_store(quiet_)});
    const auto open = std::ranges::count_if(own_, &SweepRun::is_open);
    if (!budget_.has_room_for(open, {})) {
      throw UsageError(fmt::format("the sweep's own {} are beyond --spend {}",
                                   counted(static_cast<std::size_t>(open), "run"), budget_.text()));
    }
    bool goes_on = launch(own_, {});
    std::vector<OpenClaim> claims = look();
    while (goes_on) {
      OpenClaim* next = nullptr;
      for (OpenClaim& claim : claims) {
        if (claim.is_decided || !claim.why_not.empty()) continue;
        if (next == nullptr || claim.cost.seconds < next->cost.seconds) next = &claim;
      }
      if (next == nullptr) break;
      goes_on = launch(next->more, next->own);
      const OpenClaim before = std::move(*next);
      claims = look();
      say_step(before, claims);
    }
    print_end(claims);
    if (stop_requested()) return kStopped;
    const bool all = std::ranges::all_of(claims, [](const OpenClaim& one) { return one.is_decided; });
    return all ? static_cast<int>(kDone) : code_of_outcome({{"verdict", "undecided"}});
  }

 private:
  /// The claims are about the runs of this recipe, whatever its overrides call the experiment.
  static RecipeOptions options_of(const DecideCommand& command, const std::string& experiment) {
    RecipeOptions options = command;
    if (options.experiment.empty()) options.experiment = experiment;
    return options;
  }

  /// The claims by what the runs say now.
  std::vector<OpenClaim> look() {
    has_entered_ = false;
    RunTable runs = open_runs(quiet_);
    std::vector<OpenClaim> all;
    for (SweepRun& run : own_) xlm::look_at(run, false);
    for (JudgedClaim& judged : claims_of(runs, view_, command_, command_.name, global_.runs).claims) {
      if (judged.description.needs == ClaimNeeds::kCosts) continue;
      all.push_back(candidate_of(std::move(judged)));
    }
    return has_entered_ ? look() : all;  // the store does not know yet that those runs are of this experiment
  }

  /// What is known of a claim.
  OpenClaim candidate_of(JudgedClaim judged) {
    OpenClaim one{.judged = std::move(judged)};
    one.level = one.judged.description.planned > 0 ? kLevelOfPlan : level_of_look(one.judged.look);
    const std::vector<std::string> used = runs_of(one.judged);
    std::set<std::string> settings;
    for (const SweepRun& run : own_) {
      if (std::ranges::find(used, run.id()) != used.end()) settings.insert(run.setting);
    }
    const bool is_early = std::ranges::any_of(own_, [&](const SweepRun& run) {
      const bool is_of_claim = settings.empty() || settings.contains(run.setting);
      return is_of_claim && run.is_open() && !(run.status == RunStatus::kFailed);
    });
    if (is_early) {  // a look at a part of its seeds would be one more
      one.why_not = "the sweep's own runs are not done";
      return one;
    }
    if (settings.empty()) {
      const std::string& missing = one.judged.parts.front().missing;
      one.why_not = missing.empty() ? "its runs are not of this sweep" : missing;
      return one;
    }
    one.own = own_seeds(settings);
    go_to_next_look(one, settings);
    bool is_exact = true;
    for (const ClaimPart& part : one.judged.parts) {
      one.seeds = std::max(one.seeds, part.seeds);
      is_exact = is_exact && part.is_exact;
    }
    one.is_decided = has_verdict(one.judged) && (is_exact || one.judged.p.value_or(1) < one.level);
    if (one.is_decided) return one;
    one.why_not = why_no_more(one);
    if (one.why_not.empty()) expect_cost(one, used);
    return one;
  }

  OwnSeeds own_seeds(const std::set<std::string>& settings) const {
    OwnSeeds own;
    for (const SweepRun& run : own_) {
      if (!settings.contains(run.setting)) continue;
      own.most = std::max(own.most, ++own.counts[run.setting]);
      own.last = std::max(own.last, run.planned.options.seed);
    }
    return own;
  }

  /// Finds the runs that the next look needs: the first that has some which have not ended. A plan has one look, at its
  /// seeds.
  void go_to_next_look(OpenClaim& one, const std::set<std::string>& settings) {
    const std::int64_t planned = one.judged.description.planned;
    const std::int64_t last_look = planned > 0 ? 0 : 16;
    for (std::int64_t look = 0;; ++look) {
      one.next_seeds = planned > 0 ? std::max(planned, one.own.most) : one.own.most << (look + 1);
      one.more = runs_with_more_seeds(settings, one.own, one.next_seeds);
      const bool has_open = std::ranges::any_of(one.more, &SweepRun::is_open);
      if (has_open) return;
      for (const SweepRun& run : one.more) has_entered_ = enter(run, one.own) || has_entered_;
      if (look == last_look) return;
    }
  }

  std::string why_no_more(const OpenClaim& one) const {
    const auto& parts = one.judged.parts;
    const auto not_tried = std::ranges::find(parts, Verdict::kNotTried, &ClaimPart::verdict);
    const bool is_planned = one.judged.description.planned > 0;
    if (is_planned && std::ranges::none_of(parts, &ClaimPart::is_a_look)) {
      return not_tried == parts.end() ? "its plan of seeds is fulfilled" : not_tried->missing;
    }
    for (const SweepRun& run : one.more) {
      if (!run.is_open() || !started_.contains(run.planned.paths.folder)) continue;
      if (!(run.status == RunStatus::kFailed)) return run.id() + " has not ended: the same command goes on";
      return fmt::format("{} failed, see {}", run.id(), run.planned.paths.log().string());
    }
    if (one.judged.too_weak) return "";  // one look would have decided it
    if (not_tried != parts.end()) return not_tried->missing;
    if (is_planned && std::ranges::none_of(one.more, &SweepRun::is_open)) {
      return "seeds of its plan have no number: xlm claims says which";
    }
    if (is_planned) return "";
    std::optional<std::int64_t> fewest = 0;
    for (const ClaimPart& part : parts) {
      if (part.verdict != Verdict::kUndecided) continue;
      const std::optional<std::int64_t> seeds = fewest_seeds(part);
      if (!seeds || !fewest) fewest.reset();
      if (seeds && fewest) fewest = std::max(*fewest, *seeds);
    }
    return fewest ? "" : "no number of seeds up to 10,000 is likely to decide it";
  }

  /// The runs of settings with so many seeds, without their own ones.
  std::vector<SweepRun> runs_with_more_seeds(const std::set<std::string>& settings, const OwnSeeds& seeds,
                                             std::int64_t all) {
    Recipe more = recipe_;
    more.points.clear();
    std::set<std::string> taken;
    for (const SweepRun& run : own_) {
      if (!settings.contains(run.setting) || !taken.insert(run.setting).second) continue;
      SweepPoint point = run.point;
      std::erase_if(point, [](const auto& entry) { return entry.first == "seed"; });
      for (std::int64_t seed = 1; seed <= all - seeds.counts.at(run.setting); ++seed) {
        more.points.push_back(point);
        more.points.back().emplace_back("seed", make_scalar(std::to_string(seeds.last + seed), "xlm decide"));
      }
    }
    return plan_sweep(more, global_.runs, false, {.choose = choose_in_store(quiet_)});
  }

  /// What the next look will cost if its runs cost as much as those that are there, and whether that is too much.
  void expect_cost(OpenClaim& one, const std::vector<std::string>& used) const {
    std::set<fs::path> folders;
    for (const std::string& id : used) folders.insert(global_.runs / id);
    const TryCost known = cost_since(folders, 0);
    const auto open = std::ranges::count_if(one.more, &SweepRun::is_open);
    const double share = known.runs > 0 ? static_cast<double>(open) / static_cast<double>(known.runs) : 0;
    one.cost = {open, known.seconds * share, known.flops * share, known.tokens * share};
    TryCost then = cost();
    then += one.cost;
    if (budget_.is_limited() && (budget_.is_spent(then) || !budget_.has_room_for(open, cost()))) {
      one.why_not = fmt::format("{} seeds, about {}, are beyond the budget", one.next_seeds, cost_in_words(one.cost));
    }
  }

  static std::string cost_in_words(const TryCost& cost) {
    return fmt::format("{}, {}", counted(static_cast<std::size_t>(cost.runs), "run"), human_duration(cost.seconds));
  }

  /// Of what this command did. Runs that it resumed had cost something before.
  TryCost cost() const {
    TryCost all;
    for (const auto& [folder, before] : started_) {
      const TryCost now = cost_since({folder}, 0);
      all +=
          {now.runs - before.runs, now.seconds - before.seconds, now.flops - before.flops, now.tokens - before.tokens};
    }
    return all;
  }

  static void tag(const SweepRun& run, const OwnSeeds& own) {
    const std::int64_t look = own.look_of(run);
    if (look == 0) return;
    const fs::path& folder = run.planned.paths.folder;
    const std::string name = kLookTag + std::to_string(look);
    const std::vector<std::string> tags = read_run(folder).tags;
    if (std::ranges::find(tags, name) != tags.end()) return;
    append_remark(folder, {{"tag", name}, {"given", true}});
  }

  /// Makes a run that has ended one of this experiment and of a look: another experiment may have done it. Whether it
  /// is the first time here.
  bool enter(const SweepRun& run, const OwnSeeds& own) {
    if (!entered_.insert(run.id()).second) return false;
    submit(run.planned);
    tag(run, own);
    return true;
  }

  /// Does the open ones of these runs, and tags them with their look. Whether the user and the budget let it go on.
  bool launch(const std::vector<SweepRun>& runs, const OwnSeeds& own) {
    std::vector<SweepRun> open;
    for (const SweepRun& run : runs) {
      if (run.is_open()) {
        open.push_back(run);
      } else {
        enter(run, own);
      }
    }
    if (open.empty()) return true;
    const auto should_stop = [this] { return budget_.is_limited() && budget_.is_spent(cost()); };
    for (const SweepRun& run : open) {  // before one can end
      const fs::path& folder = run.planned.paths.folder;
      started_.emplace(folder, cost_since({folder}, 0));
      submit(run.planned);
      tag(run, own);
    }
    SweepLaunch sweep(find_launcher(command_.launcher), recipe_, open,
                      {.jobs = command_.jobs, .site = command_.site, .should_stop = should_stop}, quiet_);
    sweep.start();
    return !sweep.wait().interrupted;
  }

  /// What further seeds bought.
  void say_step(const OpenClaim& before, const std::vector<OpenClaim>& claims) const {
    const auto after = std::ranges::find_if(claims, [&](const OpenClaim& one) { return one.name() == before.name(); });
    if (after == claims.end() || global_.quiet) return;
    say(fmt::format("{}: {} to {} seeds, {}: {}\n", before.name(), before.seeds, after->seeds,
                    counted(static_cast<std::size_t>(before.cost.runs), "run"), state_of(*after)));
  }

  static std::string state_of(const OpenClaim& one) {
    const std::optional<double>& value = one.judged.too_weak ? one.judged.too_weak : one.judged.p;
    if (!has_verdict(one.judged) && !one.judged.too_weak) return "undecided";
    const std::string p = value ? ", " + p_in_words(*value) : "";
    if (one.is_decided) return fmt::format("{}{}", name_of(one.judged.verdict), p);
    return fmt::format("undecided{}, which has to be below {:.2g}", p, one.level);
  }

  /// What a reader of its verdict must know, as of diverged seeds.
  static std::string caveats_of(const OpenClaim& one) {
    std::set<std::string> words;
    for (const ClaimPart& part : one.judged.parts) {
      if (one.is_decided) words.insert(beside_verdict(part));
    }
    words.erase("");
    return join({words.begin(), words.end()}, "; ");
  }

  void print_end(const std::vector<OpenClaim>& claims) const {
    if (global_.json) {
      Json list = Json::array();
      for (const OpenClaim& one : claims) {
        list.push_back({{"claim", one.name()},
                        {"verdict", one.is_decided ? name_of(one.judged.verdict) : "undecided"},
                        {"p", one.judged.p && has_verdict(one.judged) ? Json(*one.judged.p) : Json()},
                        {"level", one.level},
                        {"seeds", one.seeds},
                        {"caveats", caveats_of(one).empty() ? Json() : Json(caveats_of(one))},
                        {"why_no_more", one.why_not.empty() ? Json() : Json(one.why_not)}});
      }
      return print(json_text({{"claims", std::move(list)}, {"cost", to_json(cost())}}));
    }
    std::string text;
    for (const OpenClaim& one : claims) {
      std::string line =
          fmt::format("{}: {}, {}", one.name(), state_of(one), counted(static_cast<std::size_t>(one.seeds), "seed"));
      if (const std::string more = caveats_of(one); !more.empty()) line += ", " + more;
      text += line + (one.why_not.empty() ? "" : "; " + one.why_not) + "\n";
    }
    print(text + fmt::format("{} by this command\n", cost_in_words(cost())));
  }

  const DecideCommand& command_;
  const GlobalOptions& global_;
  GlobalOptions quiet_;
  Recipe recipe_;
  RecipeView view_;
  TryBudget budget_;
  std::vector<SweepRun> own_;            // of the recipe's own seeds
  std::map<fs::path, TryCost> started_;  // folders of runs that this command did, with what they had cost
  std::set<std::string> entered_;        // of those that were done already
  bool has_entered_ = false;             // since the last look began
};

int run_decide(const DecideCommand& command, const GlobalOptions& global) {
  find_launcher(command.launcher);  // complains before anything is written
  install_stop_handlers();
  create_folders(global.runs);
  const RunsInUse in_use(global.runs, RunsInUse::By::kSweep);
  return Decider(command, global).run();
}

}  // namespace

std::function<int()> declare_decide(CLI::App& app, const GlobalOptions& global) {
  const auto command = std::make_shared<DecideCommand>();
  app.add_option("RECIPE.yaml", command->file, "A sweep with claims")->transform(recipe_file)->required();
  app.add_option("overrides", command->overrides, "Values that override it: train.steps=1000")->type_name("KEY=VALUE");
  add_recipe_options(app, *command, "claim");
  app.add_option("--spend", command->spend, "What the runs of this command may cost: 2h, 40runs, 1e15flops, 5e6tokens")
      ->required();
  app.add_option("--launcher", command->launcher, "How to start workers (see xlm sweep)")->capture_default_str();
  app.add_option("--jobs", command->jobs, "Runs at once")->check(CLI::Range(1, 4096))->type_name("N");
  app.add_option("--site", command->site, "How to submit jobs on this cluster")->type_name("FILE");
  app.footer(
      "Does the sweep's own runs, then doubles the seeds of undecided claims, the cheapest first, until each is "
      "decided "
      "or the budget is spent. A claim with `seeds`, a plan, gets so many.\nSo that looking again finds no more by "
      "chance, p has to be below 0.04 at the first "
      "look, "
      "then 0.005, 0.0025, …\nExit code: 0 all decided, 11 some undecided, 75 stopped: the same command goes on.\n\n"
      "Examples:\n"
      "  xlm decide mine.yaml --spend 2h\n"
      "  xlm decide adaptive-span/span-limit --profile small --name no-loss-at-8k --spend 40runs data.path=data/text8");
  return [command, &global] { return run_decide(*command, global); };
}

}  // namespace xlm
