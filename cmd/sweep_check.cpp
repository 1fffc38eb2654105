// xlm sweep --check.
#include "cmd/sweep_check.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

namespace xlm {
namespace {

/// "24 runs, 8 evaluations, 2 tables, 1 figure".
std::string seen_in(const RecipeCheck& check) {
  std::string text = fmt::format("{}, {}, {}, {}", counted(check.sweep.runs.size(), "run"),
                                 counted(check.sweep.evaluations, "evaluation"), counted(check.tables, "table"),
                                 counted(check.figures, "figure"));
  if (check.continuations > 0) text += ", " + counted(check.continuations, "continuation");
  if (check.claims > 0) text += ", " + counted(check.claims, "claim");
  return check.fits == 0 ? text : text + ", " + counted(check.fits, "fit");
}

std::string check_as_json(const RecipeCheck& check) {
  Json findings = Json::array();
  for (const RecipeFinding& finding : check.findings) {
    findings.push_back({{"place", finding.place}, {"message", finding.message}, {"advice", finding.advice}});
  }
  const Json result = {{"runs", check.sweep.runs.size()},
                       {"evaluations", check.sweep.evaluations},
                       {"tables", check.tables},
                       {"figures", check.figures},
                       {"continuations", check.continuations},
                       {"claims", check.claims},
                       {"fits", check.fits},
                       {"findings", std::move(findings)}};
  return json_text(result);
}

}  // namespace

int report_check(const fs::path& file, const std::string& profile, const RecipeCheck& check,
                 const GlobalOptions& global) {
  const bool good = check.findings.empty();
  if (global.json) {
    print(check_as_json(check));
    return good ? kDone : kUsage;
  }
  std::string text;
  for (const RecipeFinding& finding : check.findings) {
    text += fmt::format("{}: {}\n", finding.place, finding.message);
    if (!finding.advice.empty()) text += fmt::format("  {}\n", finding.advice);
  }
  const std::string name = file.string() + (profile.empty() ? "" : ", profile " + profile);
  text += fmt::format("{}: {}: {}\n", name, seen_in(check),
                      good ? "every row, column and figure has its runs, and every run is shown"
                           : fmt::format("{} to correct", counted(check.findings.size(), "finding")));
  print(text);
  return good ? kDone : kUsage;
}

}  // namespace xlm
