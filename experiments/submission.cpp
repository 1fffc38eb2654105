// Submitting a run.
#include "experiments/submission.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include <fmt/format.h>

#include "base/error.h"
#include "base/version.h"
#include "datasets/segmentation.h"
#include "experiments/configuration.h"
#include "experiments/model_place.h"
#include "experiments/run_lock.h"
#include "results/journal.h"

namespace xlm {
namespace {

/// A folder under construction, removed unless it was renamed into place.
class NewFolder {
 public:
  NewFolder(const fs::path& runs, const std::string& id) {
    create_folders(runs);
    std::string name = (runs / fmt::format(".new-{}.XXXXXX", id)).string();
    if (::mkdtemp(name.data()) == nullptr) throw_file_error("create a run in", runs, errno);
    path_ = name;
    constexpr auto kReadable =
        fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read | fs::perms::others_exec;
    fs::permissions(path_, fs::perms::owner_all | kReadable);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  const fs::path& path() const { return path_; }

  /// False when something of that name is there already.
  bool move_to(const fs::path& target) const {
    std::error_code error;
    fs::rename(path_, target, error);
    if (!error) return true;
    if (fs::exists(target)) return false;
    throw_file_error("create", target, error.value());
  }

 private:
  fs::path path_;
};

Json submitted_environment(const PlannedRun& run) {
  const PreparedSummary& data = run.inputs.data;
  Json environment = {{"xlm", kVersion},
                      {"commit", kCommit},
                      {"dataset", data.dataset},
                      {"language", data.language},
                      {"fingerprint", data.fingerprint},
                      {"symbols", data.symbols}};
  for (const auto& [key, hash] : run.inputs.contents) environment["contents"][key] = hash;
  return environment;
}

std::string absolute_name(const fs::path& path) { return fs::absolute(path).lexically_normal().string(); }

/// A worker may be started in another folder than the one that a tokenizer's file was named from.
RunOptions with_absolute_tokenizers(const RunOptions& options) {
  Yaml tree = resolved(options);
  bool changed = false;
  for (const OptionEntry& entry : option_entries(options)) {
    if (entry.content != OptionContent::kTokenizer) continue;
    const auto name = entry.value.get<std::string>();
    if (find_tokenizer(options.data.path, name) != name) continue;  // a segmentation's name, or nothing: said later
    tree.set(entry.key, from_json(absolute_name(name), "absolute path"));
    changed = true;
  }
  return changed ? read_run_options(tree) : options;
}

/// Where and how a run is done may change between two attempts; the rest is the same, or it would be another run.
void refresh(const PlannedRun& planned) {
  const Run run = read_live_run(planned.paths.folder);
  const std::string& experiment = planned.options.experiment;
  if (std::find(run.experiments.begin(), run.experiments.end(), experiment) == run.experiments.end()) {
    Journal(planned.paths.journal()).append("experiment", {{"name", experiment}}, true);
  }
  if (run.status == RunStatus::kDone || run.status == RunStatus::kRunning) return;
  RunOptions options = planned.options;
  options.experiment = run.experiment;
  const std::string text = to_text(resolved(options));
  if (read_file(planned.paths.config()) != text) write_file(planned.paths.config(), text);
}

}  // namespace

PlannedRun Planner::plan(RunOptions options) {
  options.data.path = absolute_name(options.data.path);
  if (!options.init_from.empty()) options.init_from = absolute_name(find_model(options.init_from, runs_).model);
  if (const std::string folder = pretrained_of(options.model).value_or(""); !folder.empty()) {
    set_pretrained(options.model, absolute_name(folder));
  }
  options = with_absolute_tokenizers(options);
  std::string key = options.data.path;
  for (const OptionEntry& entry : option_entries(options)) {
    if (entry.content != OptionContent::kValue) key += "\n" + entry.value.get<std::string>();
  }
  auto known = inputs_.find(key);
  if (known == inputs_.end()) known = inputs_.emplace(key, read_inputs(options)).first;
  const std::string id = run_id(options, known->second);
  return {std::move(options), known->second, {runs_ / id}};
}

bool create_run_folder(const fs::path& folder, const NewRun& content) {
  if (fs::exists(folder)) return false;
  const NewFolder made(folder.parent_path(), folder.filename().string());
  const RunPaths paths{made.path()};
  write_file(paths.config(), content.config);
  write_file(paths.environment(), content.environment.dump(2) + "\n");
  {
    Journal journal(paths.journal());
    for (const auto& [type, fields] : content.records) journal.append(type, fields, true);
  }
  if (!made.move_to(folder)) return false;
  sync_folder(folder.parent_path());
  return true;
}

void submit(const PlannedRun& run) {
  const std::string& experiment = run.options.experiment;
  const NewRun content{.config = to_text(resolved(run.options)),
                       .environment = submitted_environment(run),
                       .records = {{"experiment", {{"name", experiment}}},
                                   {"state", {{"state", "queued"}, {"experiment", experiment}}}}};
  const fs::path& folder = run.paths.folder;
  if (create_run_folder(folder, content)) return;
  if (!fs::is_directory(folder)) {
    throw DataError(
        fmt::format("{} is in the way of a run folder\nremove it, or choose another --runs", folder.string()));
  }
  refresh(run);
}

Run read_live_run(const fs::path& folder) {
  // Whether a worker lives is asked before the journal is read: one that ends in between is then seen as ended.
  const bool alive = has_live_worker(folder);
  return read_run(folder, [alive](const fs::path&) { return alive; });
}

std::int64_t checkpoint_step(const Run& run) { return run.checkpoints.empty() ? 0 : run.checkpoints.back().step; }

}  // namespace xlm
