// Starts workers as an array of Slurm jobs.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "experiments/launchers/launcher.h"
#include "experiments/launchers/slurm.h"
#include "experiments/launchers/slurm_script.h"

namespace xlm {
namespace {

constexpr double kManyCpus = 8;  // the most for a worker that has no GPU and asks for no number

/// Workers of one request: the resources that they get, and their submission.
class SlurmSubmission {
 public:
  explicit SlurmSubmission(LaunchRequest& request)
      : request_(request),
        cluster_(ask_cluster()),
        partition_(cluster_.partition(request.site.partition)),
        resources_(or_else(or_else(request.asked, request.site.resources), supposed())) {
    if (request_.site.scheduler)
      throw UsageError(fmt::format("{} has a scheduler: use --launcher command", request_.site.file.string()));
    check();
    request_.save = seconds_to_save();
    leave_out_failed_nodes();
    request_.list.cores = static_cast<std::int64_t>(resources_.cpus.value);
    request_.list.runs_per_gpu = resources_.runs_per_gpu;
  }

  std::string preview(std::int64_t count) const {
    const std::string script = script_for(count);
    return fmt::format("{}\n{}\n{}\n", script, shown_resources(resources_), test_submission(script));
  }

  std::string submit(std::int64_t count) const {
    const std::string script = script_for(count);
    write_file(request_.list.folder() / "worker.sh", script);  // only to be read: a group may be able to change it
    std::string text;
    for (std::int64_t left = count; left > 0; left -= cluster_.max_array) {
      const std::int64_t tasks = std::min(left, cluster_.max_array);
      text += fmt::format("submitted job {}: {} in partition {}\n", submit_array(script, tasks),
                          counted(tasks, "worker"), partition_.name);
    }
    if (!request_.exclude.empty()) {
      text += fmt::format("excluded, because a run was lost when they failed: {}\n", join(request_.exclude, ", "));
    }
    return text + fmt::format("their logs: {}\n", request_.list.folder().string());
  }

 private:
  std::string script_for(std::int64_t count) const {
    return slurm_script(request_, resources_, std::min(count, cluster_.max_array), cluster_.has_expedited_requeue());
  }

  /// A worker may get failed nodes if the site's options, such as --constraint, rule out all others.
  void leave_out_failed_nodes() {
    request_.exclude = nodes_to_leave_out();
    if (request_.exclude.empty()) return;
    if (is_taken()) return;
    std::vector<std::string> excluded;
    excluded.swap(request_.exclude);
    if (!is_taken()) request_.exclude.swap(excluded);  // refused for another reason
  }

  bool is_taken() const {
    try {
      test_submission(script_for(1));
    } catch (const UsageError&) {
      return false;
    }
    return true;
  }

  /// Nodes of the partition that failed under unfinished runs. Empty if no other node would take jobs.
  std::vector<std::string> nodes_to_leave_out() const {
    const std::set<std::string> failed = failed_nodes(request_.list.items, cluster_.name);
    if (failed.empty()) return {};
    std::vector<std::string> nodes;
    bool others = false;
    for (const SlurmNode& node : nodes_of(partition_.name)) {
      if (failed.contains(node.name)) nodes.push_back(node.name);
      others = others || (node.usable && !failed.contains(node.name));
    }
    return others ? nodes : std::vector<std::string>();
  }

  Resources said() const { return or_else(request_.asked, request_.site.resources); }

  /// Values for what is unset, as far as the runs and the cluster tell.
  Resources supposed() const {
    Resources found;
    found.gpus = gpus_of_devices(request_.list.items, partition_.gpus > 0, partition_.name);
    const Need gpus = or_else(said(), found).gpus;
    if (gpus.value > 0 && partition_.gpus > 0) {
      const double share = gpus.value / static_cast<double>(partition_.share_gpus);
      found.cpus = {std::max(std::floor(share * static_cast<double>(partition_.share_cpus)), 1.0),
                    fmt::format("its share of a node of {}: {} CPUs for {} GPUs", partition_.name,
                                partition_.share_cpus, partition_.share_gpus)};
    } else {
      found.cpus = {
          std::clamp(static_cast<double>(partition_.cpus), 1.0, kManyCpus),
          fmt::format("nodes of {} have {}, at most {:.0f} are used", partition_.name, partition_.cpus, kManyCpus)};
    }
    return or_else(found, expected());
  }

  /// Memory and time, from finished runs of the list.
  Resources expected() const {
    Resources found = learned_resources(request_.list.items);
    if (!cluster_.counts_memory) found.memory = {};
    if (partition_.time_limit > 0 && found.time.value > partition_.time_limit) {
      found.time = {partition_.time_limit,
                    fmt::format("{}, cut to the limit of {}", found.time.source, partition_.name)};
    }
    return found;
  }

  /// Refuses jobs that would wait forever, and jobs whose runs would all fail.
  void check() const {
    const auto too_many = [&](const char* what, const Need& asked, std::int64_t most) {
      if (asked.value <= static_cast<double>(most)) return;
      throw UsageError(fmt::format("{}: a worker would need {:.0f} {}, but no node of partition {} has more than {}",
                                   asked.source, asked.value, what, partition_.name, most));
    };
    too_many("CPUs", resources_.cpus, partition_.most_cpus);
    too_many("GPUs", resources_.gpus, partition_.gpus);
    check_gpus(resources_, request_.list.items);
    const double limit = partition_.time_limit;
    if (limit > 0 && resources_.time.value > limit && !resources_.time.source.empty()) {
      throw UsageError(fmt::format("{}: a worker would need {}, but partition {} gives at most {}",
                                   resources_.time.source, human_duration(resources_.time.value), partition_.name,
                                   human_duration(limit)));
    }
  }

  double seconds_to_save() const {
    double time = resources_.time.value;
    if (time == 0) time = partition_.default_time > 0 ? partition_.default_time : partition_.time_limit;
    const double checkpoint = request_.site.save ? 0 : pace_of(request_.list.items, kRunsLookedAt).checkpoint;
    return save_seconds(request_.site.save, checkpoint, time);
  }

  LaunchRequest& request_;
  SlurmCluster cluster_;
  SlurmPartition partition_;
  Resources resources_;
};

class SlurmLauncher : public Launcher {
 public:
  std::string preview(LaunchRequest& request, std::int64_t count) override {
    if (!submission_) submission_.emplace(request);
    return submission_->preview(count);
  }

  Launched start(LaunchRequest& /*request*/, std::int64_t count) override {
    return {.text = submission_.value().submit(count), .report = std::nullopt};
  }

  std::optional<std::vector<QueuedWorker>> status(const fs::path& /*runs*/,
                                                  const std::vector<std::string>& lists) override {
    if (lists.empty() || !is_slurm_here()) return std::nullopt;
    return queued_workers("xlm-" + join(lists, ",xlm-"));
  }

  void cancel(const fs::path& /*runs*/, const std::string& list) override { cancel_waiting_jobs("xlm-" + list); }

 private:
  std::optional<SlurmSubmission> submission_;
};

}  // namespace

std::unique_ptr<Launcher> make_slurm_launcher() { return std::make_unique<SlurmLauncher>(); }

}  // namespace xlm
