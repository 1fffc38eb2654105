// Winners of other sweeps as if those were done.
#include "experiments/checks/supposed_winners.h"

#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/lookup.h"
#include "experiments/checks/supposed_runs.h"
#include "experiments/sweeps/winners.h"

namespace xlm {
namespace {

/// The other sweep as if it were done.
class SupposedOther {
 public:
  SupposedOther(const BestOf& best, std::vector<fs::path> asking)
      : other_(recipe_of(configuration_of_other(best))),
        store_(store_of(suppose(other_, named_by(best), suppose_winners(std::move(asking))))),
        runs_(store_) {}
  SupposedOther(const SupposedOther&) = delete;
  SupposedOther& operator=(const SupposedOther&) = delete;
  ~SupposedOther() = default;

  ChosenValue choose(const BestOf& best) {
    BestOf strict = best;
    strict.fallback.reset();  // it must not hide that nothing can be chosen
    ChosenValue chosen = choose_winner(runs_, strict, other_);
    std::set<std::string> values;
    for (const std::size_t row : runs_.select(conditions_of(best, other_))) {
      values.insert(to_text(runs_.column(best.key)[row]));
    }
    if (values.size() > 1) return chosen;
    throw UsageError(
        fmt::format("{}: {} has one value of '{}' alone, so nothing is chosen\nvary it there, or write the value here",
                    best.place, best.file.string(), best.key));
  }

 private:
  /// A program that does not say what it reports may report what is compared.
  NamedByExhibits named_by(const BestOf& best) const {
    NamedByExhibits named;
    if (other_.reported.may_be_others) named.columns.insert(best.by);
    return named;
  }

  Recipe other_;
  Store store_;
  RunTable runs_;
};

}  // namespace

ChooseValue suppose_winners(std::vector<fs::path> asking) {
  using Others = std::map<std::pair<fs::path, std::string>, std::shared_ptr<SupposedOther>>;
  return [asking = std::move(asking), others = std::make_shared<Others>()](const BestOf& best) {
    if (contains(asking, best.file)) {
      throw UsageError(
          fmt::format("{}: {} asks for its own winner, through other sweeps or itself\n"
                      "give '{}' a value in one of them",
                      best.place, best.file.string(), best.key));
    }
    std::shared_ptr<SupposedOther>& other = (*others)[{best.file, best.profile}];
    if (!other) {
      std::vector<fs::path> chain = asking;
      chain.push_back(best.file);
      other = std::make_shared<SupposedOther>(best, std::move(chain));
    }
    return other->choose(best);
  };
}

}  // namespace xlm
