// xlm runs merge and xlm runs pack: runs from one folder, machine or group to another.
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/error.h"
#include "base/stop.h"
#include "base/text.h"
#include "cmd/results_store.h"
#include "experiments/collections/line_merge.h"
#include "experiments/collections/run_files.h"
#include "experiments/collections/run_merge.h"
#include "experiments/collections/search_merge.h"
#include "experiments/collections/unpacking.h"
#include "experiments/configuration/program_inputs.h"
#include "experiments/runs/run_lock.h"
#include "experiments/runs/submission.h"
#include "results/run_folder/registration.h"

namespace xlm {
namespace {

struct MergeCommand {
  std::vector<fs::path> sources;
  bool dry_run = false;
  bool move = false;
  bool link = false;
};

struct PackCommand {
  std::vector<std::string> runs;
  std::vector<std::string> where;
  std::vector<fs::path> also;
  fs::path out;
  bool models = false;
  bool checkpoints = false;
};

std::vector<MergedRun> merge_source(const fs::path& source, const MergeSettings& settings,
                                    const GlobalOptions& global) {
  if (!fs::is_directory(source)) {
    if (settings.how == MergeHow::kMove) throw UsageError("--move works only with folders: an archive does not change");
    std::vector<MergedRun> merged = merge_archive(source, global.runs, settings);
    if (merged.empty()) say(fmt::format("there are no runs in {}\n", source.string()));
    return merged;
  }
  std::error_code error;
  if (fs::equivalent(source, global.runs, error)) {
    throw UsageError(fmt::format("{} is the folder of runs itself: name another one", source.string()));
  }
  if (settings.how == MergeHow::kMove && !settings.dry_run) finish_removals(source, is_run_name);
  const std::vector<fs::path> folders = find_run_folders(source);
  if (folders.empty()) say(fmt::format("there are no runs in {}\n", source.string()));  // all may have moved before
  return merge_runs(folders, global.runs, settings);
}

Json merged_json(const std::vector<MergedRun>& merged, const std::vector<MergedRecord>& records) {
  Json list = Json::array();
  for (const MergedRun& run : merged) {
    Json entry = {{"run_id", run.id}, {"outcome", name_of(run.outcome)}};
    if (!run.note.empty()) entry["note"] = run.note;
    list.push_back(std::move(entry));
  }
  for (const MergedRecord& record : records) {
    const MergeOutcome outcome = record.is_conflict ? MergeOutcome::kConflict : MergeOutcome::kUpdated;
    list.push_back({{record.kind, record.name}, {"outcome", name_of(outcome)}, {"note", record.note}});
  }
  return list;
}

std::string merged_text(const std::vector<MergedRun>& merged, const std::vector<MergedRecord>& records,
                        const MergeCommand& command) {
  std::map<MergeOutcome, std::size_t> counts;
  std::string text;
  for (const MergedRecord& record : records) text += fmt::format("{} {}: {}\n", record.kind, record.name, record.note);
  for (const MergedRun& run : merged) {
    ++counts[run.outcome];
    if (!run.note.empty()) text += fmt::format("{}: {}\n", run.id, run.note);
  }
  std::vector<std::string> parts;
  for (const auto& [outcome, count] : counts) parts.push_back(fmt::format("{} {}", count, name_of(outcome)));
  text += fmt::format("{}: {}\n", counted(merged.size(), "run"), join(parts, ", "));
  return text + (command.dry_run ? "nothing was written\n" : "");
}

/// Conflicts and damaged runs are a failure, because a user has to look at them.
ExitCode merge_code(const std::vector<MergedRun>& merged, const std::vector<MergedRecord>& records) {
  const auto is_conflict = [](const MergedRecord& record) { return record.is_conflict; };
  ExitCode code = std::ranges::any_of(records, is_conflict) ? kFailed : kDone;
  for (const MergedRun& run : merged) {
    if (run.outcome == MergeOutcome::kUnfinished) return kStopped;
    if (run.outcome == MergeOutcome::kConflict || run.outcome == MergeOutcome::kDamaged) code = kFailed;
  }
  return code;
}

bool is_packed(const fs::path& relative, const PackCommand& command) {
  if (!relative.has_parent_path()) return true;
  const fs::path& folder = *relative.begin();
  return folder == "model" ? command.models : folder == "checkpoints" ? command.checkpoints : true;
}

/// A file in the folder of runs.
PackedFile in_runs(const fs::path& relative, const GlobalOptions& global) {
  return {global.runs / relative, ("runs" / relative).string()};
}

std::vector<PackedFile> files_of(const std::string& id, const PackCommand& command, const GlobalOptions& global) {
  if (!is_run_name(id)) {
    throw DataError(
        fmt::format("{}: `xlm runs merge` cannot import a run with this name\nrename its folder to MODEL-DATASET-HASH",
                    (global.runs / id).string()));
  }
  std::vector<PackedFile> files;
  for (const fs::path& relative : run_files(global.runs / id)) {
    if (is_packed(relative, command)) files.push_back(in_runs(id / relative, global));
  }
  return files;
}

/// The hashes of the frozen code that a run needs; none of one that cannot be read.
std::set<std::string> code_of_run(const fs::path& folder) {
  try {
    return frozen_code_of(read_run(folder));
  } catch (const DataError&) {
    return {};
  }
}

/// The frozen code of programs' runs, once for each version. What is damaged is left out, with a warning.
std::vector<PackedFile> code_files(const std::set<std::string>& hashes, const GlobalOptions& global) {
  const fs::path place = frozen_programs(global.runs);
  std::vector<PackedFile> files;
  for (const std::string& hash : hashes) {
    if (!fs::is_directory(code_folder(place, hash))) continue;
    try {
      for (const fs::path& file : files_of_frozen_code(place, hash)) {
        files.push_back({place / file, ("runs" / place.filename() / file).string()});
      }
    } catch (const Error& error) {
      spdlog::warn("not in the archive: {}", first_line(error.what()));
    }
  }
  return files;
}

/// The files of --add, each under its own name at the top of the archive.
std::vector<PackedFile> added_files(const PackCommand& command) {
  std::vector<PackedFile> files;
  std::map<std::string, fs::path> names;
  for (const fs::path& file : command.also) {
    if (!fs::is_regular_file(file)) {
      const char* why = fs::exists(file) ? "it is not a regular file, and an archive needs each file's size first"
                                         : "there is no such file";
      throw UsageError(fmt::format("--add {}: {}", file.string(), why));
    }
    const std::string name = file.filename().string();
    if (name == kSumsName || name == "runs") {
      throw UsageError(fmt::format("--add {}: the archive already contains a '{}'", file.string(), name));
    }
    const auto [first, is_new] = names.emplace(name, file);
    if (!is_new) {
      throw UsageError(fmt::format("--add {} and --add {}: both would be '{}' in the archive\nrename one of them",
                                   first->second.string(), file.string(), name));
    }
    files.push_back({file, name});
  }
  return files;
}

int merge_sources(const MergeCommand& command, const GlobalOptions& global) {
  if (command.move && command.link) throw UsageError("--move and --link exclude each other");
  install_stop_handlers();
  std::vector<MergedRecord> records;
  MergeSettings settings{.how = command.move   ? MergeHow::kMove
                                : command.link ? MergeHow::kLink
                                               : MergeHow::kCopy,
                         .dry_run = command.dry_run,
                         .should_stop = stop_requested,
                         .progress = progress_of_runs("merging", 0, global),
                         .record = [&records](const MergedRecord& record) { records.push_back(record); }};
  std::vector<MergedRun> merged;
  for (const fs::path& source : command.sources) {
    const std::vector<MergedRun> some = merge_source(source, settings, global);
    merged.insert(merged.end(), some.begin(), some.end());
  }
  if (!command.dry_run) open_store(global);
  print(global.json ? json_text(merged_json(merged, records)) : merged_text(merged, records, command));
  return merge_code(merged, records);
}

int pack_runs(const PackCommand& command, const GlobalOptions& global) {
  const std::vector<PackedFile> added = added_files(command);
  std::vector<PackedFile> files;
  std::vector<std::string> live;
  std::size_t count = 0;
  std::set<std::string> code;
  RunTable runs = open_runs(global);
  for (const std::string& id : choose_runs(runs, command.runs, command.where, global)) {
    if (has_live_worker(global.runs / id)) {
      live.push_back(id);
      continue;
    }
    const std::vector<PackedFile> some = files_of(id, command, global);
    files.insert(files.end(), some.begin(), some.end());
    code.merge(code_of_run(global.runs / id));
    count += some.empty() ? 0 : 1;
  }
  if (count == 0) throw DataError("all chosen runs are running: nothing can be packed yet");
  for (PackedFile& file : code_files(code, global)) files.push_back(std::move(file));
  for (const fs::path& record : search_files(global.runs)) files.push_back(in_runs(record, global));
  for (const fs::path& line : line_files(global.runs)) files.push_back(in_runs(line, global));
  if (fs::exists(global.runs / kRegistrations)) files.push_back(in_runs(kRegistrations, global));
  files.insert(files.end(), added.begin(), added.end());
  const PackReport report = pack(files, command.out);
  if (global.json) {
    print(json_text({{"archive", command.out.string()},
                     {"runs", count},
                     {"files", report.files},
                     {"bytes", report.bytes},
                     {"packed", report.packed},
                     {"left_out", live}}));
    return kDone;
  }
  for (const std::string& id : live) print(fmt::format("{}: skipped, a worker is running it\n", id));
  print(fmt::format("{}: {}, {} files of {}, packed into {}\n", command.out.string(), counted(count, "run"),
                    report.files, human_bytes(static_cast<double>(report.bytes)),
                    human_bytes(static_cast<double>(report.packed))));
  return kDone;
}

}  // namespace

std::function<int()> declare_runs_merge(CLI::App& app, const GlobalOptions& global) {
  const auto command = std::make_shared<MergeCommand>();
  app.add_option("SOURCE", command->sources, "Folders of runs, run folders, or archives of them (tar, tar.zst, …)")
      ->required();
  app.add_flag("--dry-run", command->dry_run, "Show what would happen to each run; change nothing");
  app.add_flag("--move", command->move, "Remove merged runs from SOURCE");
  app.add_flag("--link", command->link, "Hard-link models and checkpoints instead of copying them");
  app.footer(
      "A run's id is a hash of all that determines its result, so runs from anywhere can be merged, in any order and\n"
      "repeatedly. If both places have a run, the one with more progress is kept. If both are done with different\n"
      "results, that is a conflict and neither changes. Runs with a worker are skipped. More: docs/clusters.md\n\n"
      "Exit code: 0, 1 if there are conflicts or damaged runs, 75 stopped.\n\n"
      "Examples:\n  xlm runs merge /scratch/ada/runs\n  xlm runs merge spans.tar.zst --dry-run\n"
      "  xlm runs merge node1/runs node2/runs --move");
  return [command, &global] { return merge_sources(*command, global); };
}

std::function<int()> declare_runs_pack(CLI::App& app, const GlobalOptions& global) {
  const auto command = std::make_shared<PackCommand>();
  app.add_option("RUN", command->runs, fmt::format("{} (default: all)", kRunNames));
  add_where(app, command->where, "All");
  app.add_option("--out", command->out, "The archive: FILE.tar, .tar.gz, .tar.xz or .tar.zst")
      ->required()
      ->type_name("FILE");
  app.add_flag("--models", command->models, "Include trained models");
  app.add_flag("--checkpoints", command->checkpoints, "Include checkpoints, to resume from");
  app.add_option("--add", command->also, "Include another file, such as a report or the sweep")
      ->allow_extra_args(false)
      ->type_name("FILE");
  app.footer(
      "Configuration, environment, journal and log of every run, and the hashes of all files: `sha256sum -c "
      "SHA256SUMS`\n"
      "verifies an unpacked archive, and `xlm runs merge` imports one.\n\n"
      "Example:\n  xlm report spans.yaml --out report.html\n"
      "  xlm runs pack --where experiment=spans --add report.html --add spans.yaml --out spans.tar.zst");
  return [command, &global] { return pack_runs(*command, global); };
}

}  // namespace xlm
