// Starts workers by the commands of a site file's `scheduler`. Their jobs are noted next to the list, with the site
// file whose commands ask about them, and this user's mark: nothing that others write there is asked for.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/command.h"
#include "base/error.h"
#include "base/json.h"
#include "base/lookup.h"
#include "base/text.h"
#include "experiments/launchers/launcher.h"
#include "experiments/launchers/site_scheduler.h"
#include "experiments/launchers/worker_script.h"
#include "experiments/runs/own_submissions.h"
#include "results/run_folder/journal.h"

namespace xlm {
namespace {

constexpr double kListed = 15;  // seconds until a queue lists a new job: some answer from a copy that is older
constexpr double kMiB = 1048576;

/// A submission, as noted.
struct SiteJob {
  std::string job;
  std::string host;
  double time = 0;  // of submission
  fs::path site;    // the file with the commands

  std::string mark(const fs::path& list) const {
    return own_mark(fmt::format("{}\n{}\n{}\n{}\n{}", list.filename().string(), job, host, time, site.string()));
  }
};

fs::path jobs_file(const fs::path& list) { return list / "jobs.json"; }

/// The jobs that this user has noted of a list. Throws DataError if the file is damaged: there may be workers.
std::vector<SiteJob> read_jobs(const fs::path& list) {
  std::vector<SiteJob> jobs;
  const fs::path file = jobs_file(list);
  if (!fs::exists(file)) return jobs;
  try {
    for (const Json& item : parse_json(read_file(file), file.string())) {
      const SiteJob job{item.value("job", ""), item.value("host", ""), item.value("time", 0.0), item.value("site", "")};
      if (item.value("mark", "") == job.mark(list)) jobs.push_back(job);
    }
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("{} is no list of jobs: {}\nremove it if no worker of the sweep waits or runs",
                                file.string(), error.what()));
  }
  return jobs;
}

void write_jobs(const fs::path& list, const std::vector<SiteJob>& jobs) {
  Json items = Json::array();
  for (const SiteJob& job : jobs) {
    items.push_back({{"job", job.job},
                     {"host", job.host},
                     {"time", job.time},
                     {"site", job.site.string()},
                     {"mark", job.mark(list)}});
  }
  write_file(jobs_file(list), json_text(items));
}

const SiteScheduler& scheduler_of(const Site& site) {
  if (site.scheduler) return *site.scheduler;
  throw UsageError(
      fmt::format("{} has no scheduler: how to submit jobs is unknown\n"
                  "to write such a file: xlm sweep --print-site pbs (or lsf, sge, ssh)",
                  site.file.empty() ? "there is no site file, which" : site.file.string()));
}

/// What queues say, each asked once.
class QueueAnswers {
 public:
  /// The workers of a job, with what the queue says of each. A new job that is not listed yet waits.
  std::vector<std::pair<QueuedWorker, SiteValues>> workers_of(const SiteJob& job) {
    std::vector<std::pair<QueuedWorker, SiteValues>> workers;
    bool listed = false;
    const SiteScheduler& scheduler = scheduler_named(job.site);
    for (const SiteValues& said : answer(scheduler, job)) {
      if (said.at("job") != job.job) continue;
      listed = true;
      if (!contains(scheduler.gone, said.at("state"))) workers.emplace_back(worker(scheduler, job, said), said);
    }
    if (!listed && wall_seconds() - job.time < kListed) {
      workers.push_back(
          {{.id = job.job, .state = "new", .reason = "submitted just now", .host = "", .waits = true}, SiteValues()});
    }
    return workers;
  }

  const SiteScheduler& scheduler_named(const fs::path& file) {
    const auto [site, is_new] = sites_.try_emplace(file);
    if (is_new) site->second = read_site(file);
    return scheduler_of(site->second);
  }

 private:
  const std::vector<SiteValues>& answer(const SiteScheduler& scheduler, const SiteJob& job) {
    const auto key = std::pair(job.site, job.host);
    const auto found = answers_.find(key);
    return found != answers_.end() ? found->second
                                   : answers_.emplace(key, jobs_listed_by(scheduler, job.host)).first->second;
  }

  static QueuedWorker worker(const SiteScheduler& scheduler, const SiteJob& job, const SiteValues& said) {
    const auto value = [&](const char* name) { return value_or(said, name, ""); };
    QueuedWorker worker{.id = job.job, .state = value("state"), .reason = "", .host = value("host")};
    if (!value("task").empty()) worker.id += "_" + value("task");
    if (worker.host.empty()) worker.host = job.host;
    worker.waits = contains(scheduler.queued, worker.state);
    if (worker.waits) worker.reason = value("reason").empty() ? worker.state : value("reason");
    return worker;
  }

  std::map<fs::path, Site> sites_;
  std::map<std::pair<fs::path, std::string>, std::vector<SiteValues>> answers_;  // by site file and host
};

class CommandLauncher : public Launcher {
 public:
  std::int64_t usual_workers(const LaunchRequest& request) const override {
    const std::vector<std::string>& hosts = scheduler_of(request.site).hosts;
    return hosts.empty() ? Launcher::usual_workers(request) : std::ssize(hosts);
  }

  std::string preview(LaunchRequest& request, std::int64_t count) override {
    const SiteScheduler& scheduler = scheduler_of(request.site);
    resources_ = or_else(or_else(request.asked, request.site.resources), learned_resources(request.list.items));
    if (!resources_.gpus.known()) {
      resources_.gpus = gpus_of_devices(request.list.items, false, request.site.file.filename().string());
    }
    check_gpus(resources_, request.list.items);
    const double checkpoint = request.site.save ? 0 : pace_of(request.list.items, kRunsLookedAt).checkpoint;
    request.save = save_seconds(request.site.save, checkpoint, resources_.time.value);
    request.list.cores = static_cast<std::int64_t>(resources_.cpus.value);
    request.list.runs_per_gpu = resources_.runs_per_gpu;
    const std::string host = scheduler.hosts.empty() ? "" : scheduler.hosts.front();
    std::vector<std::string> words =
        site_words(scheduler.submit, values(request, std::min(count, scheduler.array), host));
    for (std::string& word : words) word = shell_word(word);
    return fmt::format("{}\n{}\nsubmitted by: {}\n", script(request), shown_resources(resources_), join(words, " "));
  }

  Launched start(LaunchRequest& request, std::int64_t count) override {
    const SiteScheduler& scheduler = scheduler_of(request.site);
    const fs::path list = request.list.folder();
    write_file(list / "worker.sh", script(request));  // only to be read: a group may be able to change it
    std::vector<SiteJob> jobs = present_jobs(list);
    std::string text;
    for (std::int64_t left = count; left > 0; left -= scheduler.array) {
      const std::int64_t workers = std::min(left, scheduler.array);
      const std::string host = freest_host(scheduler, jobs);
      const std::string job = submit_to(scheduler, values(request, workers, host), script(request));
      jobs.push_back({job, host, wall_seconds(), fs::absolute(request.site.file)});
      write_jobs(list, jobs);
      text += fmt::format("submitted job {}: {}{}\n", job, counted(static_cast<std::size_t>(workers), "worker"),
                          host.empty() ? "" : " on " + host);
    }
    return {.text = text + fmt::format("their logs: {}\n", list.string()), .report = std::nullopt};
  }

  std::optional<std::vector<QueuedWorker>> status(const fs::path& runs,
                                                  const std::vector<std::string>& lists) override {
    std::optional<std::vector<QueuedWorker>> workers;
    QueueAnswers answers;
    for (const std::string& name : lists) {
      for (const SiteJob& job : read_jobs(WorkList{.name = name, .runs = runs}.folder())) {
        if (!workers) workers.emplace();
        for (auto& [worker, said] : answers.workers_of(job)) workers->push_back(std::move(worker));
      }
    }
    return workers;
  }

  void cancel(const fs::path& runs, const std::string& list) override {
    try {
      QueueAnswers answers;
      for (const SiteJob& job : read_jobs(WorkList{.name = list, .runs = runs}.folder())) {
        const SiteCommand& cancel = answers.scheduler_named(job.site).cancel;
        for (auto& [worker, said] : answers.workers_of(job)) {
          if (!worker.waits || said.empty() || cancel.parts.empty()) continue;
          if (!job.host.empty()) said.try_emplace("host", job.host);
          run_command(site_words(cancel, said));
        }
      }
    } catch (const Error& error) {
      spdlog::warn("workers of {} that wait are not cancelled: {}", list, error.what());
    }
  }

 private:
  std::string script(const LaunchRequest& request) const {
    return queue_script(request, resources_.time.value, scheduler_of(request.site).again);
  }

  SiteValues values(const LaunchRequest& request, std::int64_t workers, const std::string& host) const {
    SiteValues values = values_of_host(host);
    values["name"] = "xlm-" + request.list.name;
    values["workers"] = std::to_string(workers);
    values["logs"] = request.list.folder().string();
    const auto set = [&](const char* name, const Need& need, double unit) {
      if (need.known() && need.value > 0) values[name] = fmt::format("{:.0f}", std::ceil(need.value / unit));
    };
    if (workers > 1) values["last"] = std::to_string(workers - 1);
    if (!resources_.gpu_type.empty()) values["gpu_type"] = resources_.gpu_type;
    set("cpus", resources_.cpus, 1);
    set("gpus", resources_.gpus, 1);
    set("memory", resources_.memory, kMiB);
    if (resources_.cpus.known()) set("memory_of_cpu", resources_.memory, kMiB * resources_.cpus.value);
    set("time", resources_.time, 1);
    set("minutes", resources_.time, 60);
    return values;
  }

  /// Jobs of a list with workers, as their queues say now.
  static std::vector<SiteJob> present_jobs(const fs::path& list) {
    std::vector<SiteJob> jobs = read_jobs(list);
    QueueAnswers answers;
    std::erase_if(jobs, [&](const SiteJob& job) { return answers.workers_of(job).empty(); });
    return jobs;
  }

  /// The host with the fewest jobs; "" if the site names none.
  static std::string freest_host(const SiteScheduler& scheduler, const std::vector<SiteJob>& jobs) {
    const auto jobs_on = [&](const std::string& host) {
      return std::ranges::count_if(jobs, [&](const SiteJob& job) { return job.host == host; });
    };
    const auto freest = std::ranges::min_element(
        scheduler.hosts, [&](const std::string& a, const std::string& b) { return jobs_on(a) < jobs_on(b); });
    return freest == scheduler.hosts.end() ? "" : *freest;
  }

  Resources resources_;
};

}  // namespace

std::unique_ptr<Launcher> make_command_launcher() { return std::make_unique<CommandLauncher>(); }

}  // namespace xlm
