// What a run takes from another copy of it.
#include "experiments/collections/run_news.h"

#include <algorithm>

#include "base/lookup.h"
#include "base/text.h"
#include "experiments/collections/run_files.h"
#include "experiments/runs/program_paths.h"
#include "experiments/runs/run_checkpoints.h"

namespace xlm {
namespace {

/// The step of the newest checkpoint in a run folder; -1 if there is none.
std::int64_t newest_checkpoint(const fs::path& run) {
  const std::vector<std::int64_t> steps = checkpoint_steps(run);
  return steps.empty() ? -1 : steps.back();
}

/// Whether a run folder has a whole model: its weights are written last.
bool has_model(const fs::path& run) { return fs::exists(RunPaths{run}.model() / "model.safetensors"); }

bool is_done(const fs::path& run) { return read_run(run).status == RunStatus::kDone; }

RunNews news_of_model(const fs::path& from, const fs::path& to, bool further) {
  const std::int64_t mine = newest_checkpoint(to);
  const std::int64_t theirs = newest_checkpoint(from);
  const bool resumes_from_there = theirs > mine || (mine < 0 && further);
  // The environment belongs to the results. Until there are results, it belongs to the newest checkpoint.
  const auto takes_environment = [&] {
    if (further == resumes_from_there) return further;
    return is_done(further ? from : to) ? further : resumes_from_there;
  };
  const auto takes_checkpoint = [&](const fs::path& file) {
    const std::int64_t step = step_of_checkpoint(file);
    if (step >= 0) return step > mine;
    return resumes_from_there || !fs::exists(to / file);  // best weights belong to the newest checkpoint
  };
  const auto takes = [&](const fs::path& file) {
    const fs::path part = to / *file.begin();
    if (part == RunPaths{to}.journal()) return false;
    if (is_users_file(file)) return !fs::exists(to / file);
    if (part == RunPaths{to}.checkpoints()) return takes_checkpoint(file);
    if (part == RunPaths{to}.model()) return has_model(from) && (further || !has_model(to));
    if (!fs::exists(part)) return true;
    return part == RunPaths{to}.environment() ? takes_environment() : further;
  };
  RunNews found;
  for (const fs::path& file : run_files(from)) {
    if (!takes(file)) continue;
    const bool newer = theirs > mine && to / *file.begin() == RunPaths{to}.checkpoints();
    (newer ? found.after : found.before).push_back(file);
  }
  return found;
}

/// Parts of a program's state that the run there does not have. A run that is not done may resume from older
/// checkpoints, as after a kill.
std::vector<fs::path> dropped_state(const fs::path& from, const fs::path& to, bool done_there) {
  std::vector<fs::path> parts;
  for (const fs::path& part : ProgramPaths{""}.state()) {
    const bool of_checkpoints = part == RunPaths{""}.checkpoints();
    const bool there = of_checkpoints ? has_checkpoint_files(from) : fs::exists(from / part);
    if (!there && !(of_checkpoints && !done_there) && fs::exists(to / part)) parts.push_back(part);
  }
  return parts;
}

/// A program's checkpoints do not say their step, and it may write them again under the same names. So its state is
/// that of one copy or of the other, whole.
RunNews news_of_program(const fs::path& from, const fs::path& to, bool further) {
  const bool done_here = is_done(to);
  const bool done_there = is_done(from);
  const bool replaces = further && !done_here;  // after the end only evaluations, requests and remarks are new
  // Older checkpoints do not belong to the results of a run that is done.
  const bool lacks_checkpoints = !has_checkpoint_files(to) && (!done_here || done_there);
  const ProgramPaths here{to};
  const bool lacks_reports = !fs::exists(here.metrics()) && !fs::exists(here.output()) && !fs::exists(here.position());
  const bool brings_checkpoints = has_checkpoint_files(from) && (replaces || lacks_checkpoints);
  RunNews found;
  for (const fs::path& file : run_files(from)) {
    if (file == RunPaths{""}.journal()) continue;
    if (is_programs_file(file)) {
      const bool of_checkpoints = *file.begin() == RunPaths{""}.checkpoints();
      if (of_checkpoints ? brings_checkpoints : replaces || lacks_reports) found.state.push_back(file);
    } else if (is_users_file(file) ? !fs::exists(to / file) : further || !fs::exists(to / *file.begin())) {
      found.before.push_back(file);
    }
  }
  if (replaces) found.dropped = dropped_state(from, to, done_there);
  return found;
}

}  // namespace

std::string RunNews::note() const {
  std::vector<std::string> parts;
  for (const auto* files : {&before, &after, &state}) {
    for (const fs::path& file : *files) {
      const std::string part = file.begin()->string();
      if (!contains(parts, part)) parts.push_back(part);
    }
  }
  return parts.empty() ? "" : "its " + join(parts, ", ");
}

bool has_checkpoint_files(const fs::path& run) {
  const fs::path folder = RunPaths{run}.checkpoints();
  std::error_code error;
  if (!fs::exists(folder, error)) return false;
  const std::vector<fs::path> files = run_files(run);
  return std::ranges::any_of(files, [](const fs::path& file) { return *file.begin() == RunPaths{""}.checkpoints(); });
}

RunNews news_of(const fs::path& from, const fs::path& to, bool further) {
  return has_program(from) ? news_of_program(from, to, further) : news_of_model(from, to, further);
}

}  // namespace xlm
