// Asks Slurm through its commands.
#include "experiments/launchers/slurm.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/command.h"
#include "base/error.h"
#include "base/text.h"

namespace xlm {
namespace {

/// The output of a Slurm command.
std::string ask(const std::vector<std::string>& words) {
  const CommandResult result = run_command(words);
  if (result.code == kNoProgram) {
    throw Error(
        fmt::format("there is no {} on this machine, so no Slurm to submit to\n"
                    "go to a login node of the cluster, or start workers by hand: --launcher manual",
                    words.front()));
  }
  if (result.code != 0) throw Error(fmt::format("Slurm does not answer: {}: {}", words.front(), complaint(result)));
  return result.out;
}

/// The digits at the beginning of a text: sinfo prints 8+ if some nodes have more.
std::int64_t leading_number(std::string_view text) {
  std::int64_t value = 0;
  parse_integer(text.substr(0, text.find_first_not_of("0123456789")), value);
  return value;
}

/// GPUs of "gpu:a100:4(S:0-1),gpu:2".
std::int64_t count_gpus(const std::string& gres) {
  std::int64_t count = 0;
  for (std::string part : split(gres, ',')) {
    part = part.substr(0, part.find('('));
    if (part.substr(0, part.find(':')) != "gpu") continue;  // not gpu_memory and the like
    const std::size_t colon = part.rfind(':');
    count += colon == std::string::npos ? 1 : leading_number(std::string_view(part).substr(colon + 1));
  }
  return count;
}

void read_configuration_of(SlurmCluster& cluster, const std::string& text) {
  for (const std::string& line : split(text, '\n')) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string_view key = trim(std::string_view(line).substr(0, equals));
    const std::string value(trim(std::string_view(line).substr(equals + 1)));
    if (key == "ClusterName") cluster.name = value;
    if (key == "SLURM_VERSION") cluster.version = value;
    if (key == "MaxArraySize") cluster.max_array = std::max<std::int64_t>(leading_number(value), 1);
    if (key == "SelectTypeParameters") cluster.counts_memory = value.find("MEMORY") != std::string::npos;
  }
}

/// A job that names several partitions runs in one of them, so it may be as large as the largest takes. What it asks
/// for by default must suit each.
SlurmPartition any_of_partitions(const SlurmCluster& cluster, const std::string& names) {
  SlurmPartition any{.name = names};
  bool unlimited = false;
  for (const std::string& name : split(names, ',')) {
    const SlurmPartition one = cluster.partition(std::string(trim(name)));
    unlimited = unlimited || one.time_limit == 0;
    any.time_limit = std::max(any.time_limit, one.time_limit);
    const double usual = one.default_time > 0 ? one.default_time : one.time_limit;
    if (usual > 0 && (any.default_time == 0 || usual < any.default_time)) any.default_time = usual;
    any.cpus = any.cpus == 0 ? one.cpus : std::min(any.cpus, one.cpus);
    any.most_cpus = std::max(any.most_cpus, one.most_cpus);
    any.gpus = std::max(any.gpus, one.gpus);
    if (one.share_gpus > 0 &&
        (any.share_gpus == 0 || one.share_cpus * any.share_gpus < any.share_cpus * one.share_gpus)) {
      any.share_cpus = one.share_cpus;
      any.share_gpus = one.share_gpus;
    }
  }
  if (unlimited) any.time_limit = 0;
  return any;
}

}  // namespace

double slurm_seconds(std::string_view text) {
  // D-H, D-H:M, D-H:M:S, M, M:S, H:M:S
  static const RE2 form(R"((?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?)");
  std::string days;
  std::string first;
  std::string second;
  std::string third;
  if (!RE2::FullMatch({text.data(), text.size()}, form, &days, &first, &second, &third)) return 0;
  const auto number = [](const std::string& digits) { return static_cast<double>(leading_number(digits)); };
  const double unit = days.empty() && third.empty() ? 60 : 3600;  // minutes or hours come first
  return 86400 * number(days) + unit * number(first) + unit / 60 * number(second) + unit / 3600 * number(third);
}

SlurmPartition SlurmCluster::partition(const std::string& wanted) const {
  if (wanted.find(',') != std::string::npos) return any_of_partitions(*this, wanted);
  std::vector<std::string> names;
  for (const SlurmPartition& one : partitions) {
    if (wanted.empty() ? one.is_default : one.name == wanted) return one;
    names.push_back(one.name);
  }
  if (wanted.empty()) {
    throw UsageError(
        fmt::format("this cluster has no default partition: name one of {} in the site file\n"
                    "to write a site file: xlm sweep --print-site",
                    join(names, ", ")));
  }
  throw UsageError(fmt::format("there is no partition '{}'{}; there are {}", wanted, did_you_mean(wanted, names),
                               join(names, ", ")));
}

bool SlurmCluster::has_expedited_requeue() const {
  const std::vector<std::string> parts = split(version, '.');
  return parts.size() > 1 && leading_number(parts[0]) * 100 + leading_number(parts[1]) >= 2511;
}

/// sinfo prints a line for each kind of node of a partition.
void read_partitions(SlurmCluster& cluster, const std::string& text) {
  for (const std::string& line : split(text, '\n')) {
    const std::vector<std::string> fields = split(line, '|');
    if (fields.size() < 5) continue;
    std::string name = fields[0];
    const bool is_default = name.ends_with('*');
    if (is_default) name.pop_back();
    auto found = std::ranges::find_if(cluster.partitions,
                                      [&](const SlurmPartition& partition) { return partition.name == name; });
    if (found == cluster.partitions.end()) {
      found = cluster.partitions.insert(found, {.name = name, .is_default = is_default});
    }
    const std::int64_t cpus = leading_number(fields[3]);
    found->time_limit = slurm_seconds(fields[1]);
    found->default_time = slurm_seconds(fields[2]);
    found->cpus = found->cpus == 0 ? cpus : std::min(found->cpus, cpus);
    found->most_cpus = std::max(found->most_cpus, cpus);
    const std::int64_t gpus = count_gpus(fields[4]);
    found->gpus = std::max(found->gpus, gpus);
    if (gpus > 0 && (found->share_gpus == 0 || cpus * found->share_gpus < found->share_cpus * gpus)) {
      found->share_cpus = cpus;
      found->share_gpus = gpus;
    }
  }
}

SlurmCluster ask_cluster() {
  SlurmCluster cluster;
  read_configuration_of(cluster, ask({"scontrol", "show", "config"}));
  read_partitions(cluster, ask({"sinfo", "-h", "-o", "%P|%l|%L|%c|%G"}));
  return cluster;
}

std::vector<SlurmNode> read_nodes(const std::string& text) {
  std::vector<SlurmNode> nodes;
  for (const std::string& line : split(text, '\n')) {
    const std::vector<std::string> fields = split(line, '|');
    if (fields.size() < 2) continue;
    const std::string_view state = trim(fields[1]);
    const auto begins = [&](std::string_view word) { return state.starts_with(word); };
    // "down", "drained", "draining", "failing", …; a final star: the node does not answer.
    constexpr std::array<std::string_view, 7> kNotUsable{"down", "drain", "fail", "error", "inval", "unk", "maint"};
    const bool usable = !state.ends_with('*') && std::ranges::none_of(kNotUsable, begins);
    nodes.push_back({std::string(trim(fields[0])), usable});
  }
  return nodes;
}

std::vector<SlurmNode> nodes_of(const std::string& partition) {
  return read_nodes(ask({"sinfo", "-h", "-N", "-p", partition, "-o", "%N|%T"}));
}

bool is_slurm_here() { return run_command({"squeue", "--version"}).code == 0; }

std::vector<QueuedWorker> queued_workers(const std::string& job_name) {
  std::vector<QueuedWorker> workers;
  for (const std::string& line : split(ask({"squeue", "-h", "-r", "-n", job_name, "-o", "%i|%T|%r|%N"}), '\n')) {
    const std::vector<std::string> fields = split(line, '|');
    if (fields.size() < 4 || fields[1] == "COMPLETING") continue;
    QueuedWorker worker{.id = fields[0], .state = fields[1], .reason = fields[2], .host = fields[3]};
    worker.waits = worker.state == "PENDING";
    if (!worker.waits || worker.reason == "None") worker.reason.clear();
    workers.push_back(std::move(worker));
  }
  return workers;
}

std::string job_state(const std::string& job) {
  constexpr std::string_view kKey = "JobState=";
  const CommandResult shown = run_command({"scontrol", "show", "job", "-o", job});
  const std::size_t at = shown.code == 0 ? shown.out.find(kKey) : std::string::npos;
  if (at != std::string::npos) {
    const std::size_t from = at + kKey.size();
    return shown.out.substr(from, shown.out.find_first_of(" \n", from) - from);
  }
  const CommandResult counted = run_command({"sacct", "-n", "-X", "-P", "-j", job, "-o", "State"});
  if (counted.code != 0) return "";
  const std::string_view state = trim(counted.out);
  return std::string(state.substr(0, state.find_first_of(" \n")));  // "CANCELLED by 1000"
}

void cancel_waiting_jobs(const std::string& job_name) {
  run_command({"scancel", "--state=PENDING", "--name=" + job_name});
}

std::string test_submission(const std::string& script) {
  const CommandResult result = run_command({"sbatch", "--test-only"}, script);
  if (result.code != 0) {
    throw UsageError(
        fmt::format("Slurm would not take the job: {}\n"
                    "change resources: in the sweep or the site file",
                    complaint(result)));
  }
  std::string estimate(trim(result.err.empty() ? result.out : result.err));
  const std::string_view own_name = "sbatch: ";
  return estimate.starts_with(own_name) ? estimate.substr(own_name.size()) : estimate;
}

std::string job_number_in(const std::string& printed) {
  // "12;NAME" is of another cluster; so is "… 12 on cluster NAME".
  static const RE2 line(R"((?m)^\s*(?:Submitted batch job ([1-9]\d*)(?: .*)?|([1-9]\d*)(?:;.*)?)\s*$)");
  std::string job;
  re2::StringPiece rest = printed;
  std::string in_words;
  for (std::string plain; RE2::FindAndConsume(&rest, line, &in_words, &plain);) job = in_words + plain;
  return job;
}

std::string submit_array(const std::string& script, std::int64_t tasks) {
  const CommandResult result = run_command({"sbatch", "--parsable", fmt::format("--array=0-{}", tasks - 1)}, script);
  if (result.code != 0) throw Error(fmt::format("Slurm did not take the job: {}", complaint(result)));
  std::string job = job_number_in(result.out);
  if (job.empty()) {
    const std::string answer(trim(result.out));
    throw Error(
        fmt::format("sbatch printed no job number, so a job may be queued that is not known here: {}\n"
                    "to see it: squeue --me; check the variables SBATCH_… and your own sbatch for options",
                    answer.empty() ? complaint(result) : answer));
  }
  return job;
}

}  // namespace xlm
