// xlm runs tag, note and mark: what people say of runs.
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "cmd/results_store.h"
#include "results/run_folder/remark.h"
#include "results/run_folder/run_folder.h"

namespace xlm {
namespace {

struct RemarkOptions {
  std::string text;  // the tag, the note, or why a run is bad
  std::vector<std::string> runs;
  std::vector<std::string> where;
  bool remove = false;
};

/// The chosen runs. All of them have a folder here: a remark of a part of them would be half of an answer.
std::set<std::string> remarked_runs(const RemarkOptions& options, const GlobalOptions& global) {
  if (options.runs.empty() && options.where.empty()) {
    throw UsageError("which runs? name them, or select them with --where experiment=NAME");
  }
  RunTable runs = open_runs(global);
  std::set<std::string> ids = choose_runs(runs, options.runs, options.where, global);
  for (const std::string& id : ids) {
    if (fs::exists(RunPaths{global.runs / id}.journal())) continue;
    throw DataError(
        fmt::format("{} has no journal in {}, which keeps remarks; nothing was written\n"
                    "name the folder of runs with --runs DIR",
                    id, global.runs.string()));
  }
  return ids;
}

int remark_on_runs(const RemarkOptions& options, const Json& fields, const std::string& said,
                   const GlobalOptions& global) {
  const std::set<std::string> ids = remarked_runs(options, global);
  for (const std::string& id : ids) append_remark(global.runs / id, fields);
  open_store(global);  // takes them in
  if (global.json) {
    Json json = fields;
    json["runs"] = ids;
    print(json_text(json));
    return kDone;
  }
  for (const std::string& id : ids) print(fmt::format("{}: {}\n", id, said));
  return kDone;
}

void add_choice_of_runs(CLI::App& app, RemarkOptions& options) {
  app.add_option("RUN", options.runs, kRunNames);
  add_where(app, options.where, "Also");
}

}  // namespace

std::function<int()> declare_runs_tag(CLI::App& app, const GlobalOptions& global) {
  const auto options = std::make_shared<RemarkOptions>();
  app.add_option("TAG", options->text, "The tag: letters, digits, dots, dashes and underscores")->required();
  add_choice_of_runs(app, *options);
  app.add_flag("--remove", options->remove, "Take the tag away");
  app.footer(
      "A run may have several tags. `tag=NAME` is a condition, and `tag` a column of all tags.\n\n"
      "Examples:\n  xlm runs tag baseline adaptive-span-text8-3fa9c1d240b7e115\n"
      "  xlm runs tag paper --where experiment=spans --where model.span=256\n"
      "  xlm runs tag paper --where tag=paper --remove");
  return [options, &global] {
    if (const std::string problem = problem_of_tag(options->text); !problem.empty()) throw UsageError(problem);
    return remark_on_runs(*options, {{"tag", options->text}, {"given", !options->remove}},
                          (options->remove ? "no longer tagged " : "tagged ") + options->text, global);
  };
}

std::function<int()> declare_runs_note(CLI::App& app, const GlobalOptions& global) {
  const auto options = std::make_shared<RemarkOptions>();
  app.add_option("TEXT", options->text, "The note; an empty text removes it")->required();
  add_choice_of_runs(app, *options);
  app.footer(
      "A run has one note: a new one replaces it, and the journal keeps all. `note` is a column.\n\n"
      "Examples:\n  xlm runs note \"the disk was slow\" adaptive-span-text8-3fa9c1d240b7e115\n"
      "  xlm runs note \"\" adaptive-span-text8-3fa9c1d240b7e115");
  return [options, &global] {
    return remark_on_runs(*options, {{"note", options->text}}, options->text.empty() ? "note removed" : "noted",
                          global);
  };
}

std::function<int()> declare_runs_mark(CLI::App& app, const GlobalOptions& global) {
  const auto options = std::make_shared<RemarkOptions>();
  add_choice_of_runs(app, *options);
  CLI::Option* bad = app.add_option("--bad", options->text, "Why the runs count no more")->type_name("REASON");
  app.add_flag("--good", options->remove, "They count again")->excludes(bad);
  app.footer(
      "Bad runs are left out of tables, figures, fronts, comparisons, claims and choices of other sweeps. A note\n"
      "says how many. A condition on `bad` or `is_bad` shows them: is_bad=1 them alone, is_bad=0,1 all runs.\n\n"
      "Examples:\n  xlm runs mark adaptive-span-text8-3fa9c1d240b7e115 --bad \"trained on the wrong corpus\"\n"
      "  xlm runs mark --where experiment=spans --where is_bad=1 --good\n"
      "  xlm runs ls --where is_bad=1 --columns bad,note");
  return [options, &global] {
    const bool is_bad = !trim(options->text).empty();
    if (is_bad == options->remove) throw UsageError("give a reason with --bad REASON, or --good");
    return remark_on_runs(*options, {{"bad", is_bad ? options->text : ""}}, is_bad ? "marked as bad" : "counts again",
                          global);
  };
}

}  // namespace xlm
