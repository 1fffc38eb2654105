// Continuations of passages side by side: which runs they are asked of, and what came out as text.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "results/exhibits/continuation_description.h"
#include "results/store/nothing_to_show.h"
#include "results/store/run_table.h"

namespace xlm {

/// A row of the description with the run that stands for it.
struct ContinuingModel {
  std::string label;
  std::string run;      // the newest that is done; empty: there is none
  std::string missing;  // why
};

/// A prompt and how each model goes on with it.
struct ContinuedPassage {
  ContinuationDescription::Prompt place;
  std::string prompt;
  std::vector<std::string> texts;  // one per model; empty where there is no run
};

struct Continuations {
  ContinuationDescription description;
  std::vector<ContinuingModel> models;
  std::vector<ContinuedPassage> passages;  // empty until a model was asked
  std::vector<std::string> notes;
};

/// The models of the runs that fulfil `filters` and the description's own conditions, without passages yet; nothing to
/// show where no row has a run. Throws UsageError where the runs are of different data, so that a prompt would not be
/// the same for all.
std::variant<Continuations, NothingToShow> find_models(RunTable& runs, const ContinuationDescription& description,
                                                       const std::vector<Filter>& filters);

/// "valid split, document 3, tokens 1201 to 1500".
std::string place_text(const Continuations& continuations, const ContinuedPassage& passage);

/// On one line, without its beginning where it is long: "… and left the house".
std::string prompt_end(const std::string& prompt);
/// On one line.
std::string one_line(const std::string& text);

enum class ContinuationFormat { kText, kMarkdown, kJson };
inline constexpr std::array<std::string_view, 3> kContinuationFormatNames{"text", "markdown", "json"};

std::string render_continuations(const std::vector<Continuations>& all, ContinuationFormat format);

}  // namespace xlm
