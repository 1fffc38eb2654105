// Asks a queue by the commands of a site file.
#include "experiments/launchers/site_scheduler.h"

#include <pwd.h>
#include <unistd.h>

#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/command.h"
#include "base/error.h"
#include "base/lookup.h"
#include "base/text.h"
#include "experiments/configuration/placeholders.h"

namespace xlm {
namespace {

constexpr std::string_view kQuoted = ".quoted";  // {logs.quoted} is a word of a shell

std::string unquoted_name(std::string name) {
  if (name.ends_with(kQuoted)) name.resize(name.size() - kQuoted.size());
  return name;
}

void check_names(const Yaml& node, const std::string& word, const std::vector<std::string>& known) {
  for (const std::string& named : placeholders_in(word)) {
    const std::string name = unquoted_name(named);
    if (contains(known, name)) continue;
    fail_at(node,
            fmt::format("there is no {{{}}} here{}; there are {}", name, did_you_mean(name, known), join(known, ", ")));
  }
}

std::vector<std::string> read_words(const Yaml& map, const char* key) {
  const Yaml* node = map.given(key);
  if (node == nullptr) return {};
  if (!node->is_sequence()) fail_at(*node, fmt::format("scheduler.{} must be a list of words", key));
  return mapped(node->items, [&](const Yaml& item) { return scalar_text(item, key); });
}

/// The names of a pattern's groups. Throws UsageError if it is none, or lacks one of `needed`.
std::vector<std::string> read_pattern(const Yaml& map, const char* key, const std::vector<std::string>& needed,
                                      std::string& out) {
  const Yaml* node = map.given(key);
  if (node == nullptr) return {};
  out = scalar_text(*node, key);
  const RE2 pattern(out, RE2::Quiet);
  if (!pattern.ok()) fail_at(*node, fmt::format("scheduler.{} is no pattern: {}", key, pattern.error()));
  std::vector<std::string> names =
      mapped(pattern.NamedCapturingGroups(), [](const auto& group) { return group.first; });
  for (const std::string& name : needed) {
    if (!contains(names, name)) {
      fail_at(*node, fmt::format("scheduler.{} needs a group (?P<{}>…)", key, name));
    }
  }
  return names;
}

/// The groups of the line's pattern, or nullopt if the line is about no job.
std::optional<SiteValues> job_of(const std::string& line, const RE2& pattern) {
  const auto count = static_cast<std::size_t>(pattern.NumberOfCapturingGroups());
  std::vector<re2::StringPiece> groups(count + 1);
  if (!pattern.Match(line, 0, line.size(), RE2::UNANCHORED, groups.data(), static_cast<int>(groups.size()))) {
    return std::nullopt;
  }
  SiteValues job;
  for (const auto& [name, number] : pattern.NamedCapturingGroups()) {
    const re2::StringPiece& group = groups.at(static_cast<std::size_t>(number));
    if (!group.empty()) job[name] = std::string(group);
  }
  return job;
}

std::string with_site_values(const std::string& word, const SiteValues& values) {
  return with_values(word, [&](const std::string& name) {
    const std::string& value = values.at(unquoted_name(name));
    return name.ends_with(kQuoted) ? shell_word(value) : value;
  });
}

}  // namespace

SiteCommand read_site_command(const Yaml& map, const char* key, const std::vector<std::string>& known) {
  SiteCommand command;
  const Yaml* node = map.given(key);
  if (node == nullptr) return command;
  if (!node->is_sequence()) fail_at(*node, fmt::format("{} must be a list of words: [qsub, -N, …]", key));
  for (const Yaml& item : node->items) {
    SiteCommand::Part part{.may_be_left_out = item.is_sequence()};
    const std::vector<Yaml> words = part.may_be_left_out ? item.items : std::vector<Yaml>{item};
    for (const Yaml& word : words) {
      part.words.push_back(scalar_text(word, fmt::format("a word of {}", key)));
      check_names(word, part.words.back(), known);
    }
    command.parts.push_back(std::move(part));
  }
  return command;
}

std::int64_t read_count(const Yaml& map, const char* of, const char* key, std::int64_t otherwise) {
  const Yaml* node = map.given(key);
  std::int64_t count = otherwise;
  if (node != nullptr && (!parse_integer(scalar_text(*node, key), count) || count < 1)) {
    fail_at(*node, fmt::format("{}.{} must be a whole number, 1 or more", of, key));
  }
  return count;
}

SiteScheduler read_scheduler(const Yaml& map) {
  if (!map.is_map()) fail_at(map, "scheduler must be a map\nto see one: xlm sweep --print-site pbs");
  refuse_unknown(map, {"submit", "job", "status", "line", "none", "cancel", "queued", "running", "gone", "hosts",
                       "array", "again"});
  SiteScheduler read;
  read.submit = read_site_command(map, "submit",
                                  {"name", "cpus", "gpus", "memory", "memory_of_cpu", "time", "minutes", "workers",
                                   "last", "logs", "gpu_type", "host", "user"});
  read.status = read_site_command(map, "status", {"host", "user"});
  read_pattern(map, "job", {}, read.job);
  std::vector<std::string> groups = read_pattern(map, "line", {"job", "state"}, read.line);
  read_pattern(map, "none", {}, read.none);
  for (const auto& [key, empty] :
       {std::pair("submit", read.submit.parts.empty()), std::pair("job", read.job.empty()),
        std::pair("status", read.status.parts.empty()), std::pair("line", read.line.empty())}) {
    if (empty) fail_at(map, fmt::format("scheduler.{} is missing\nto see one: xlm sweep --print-site pbs", key));
  }
  if (RE2(read.job).NumberOfCapturingGroups() < 1)
    fail_at(*map.find("job"), "scheduler.job needs a group in brackets, which is the job's number");
  groups.emplace_back("host");
  read.cancel = read_site_command(map, "cancel", groups);
  read.queued = read_words(map, "queued");
  read.running = read_words(map, "running");
  read.gone = read_words(map, "gone");
  read.hosts = read_words(map, "hosts");
  read.array = read_count(map, "scheduler", "array", 1);
  read.again = static_cast<int>(read_count(map, "scheduler", "again", 0));
  return read;
}

std::vector<std::string> site_words(const SiteCommand& command, const SiteValues& values) {
  std::vector<std::string> words;
  for (const SiteCommand::Part& part : command.parts) {
    std::set<std::string> missing;
    for (const std::string& word : part.words) {
      for (const std::string& name : placeholders_in(word)) {
        if (!values.contains(unquoted_name(name))) missing.insert(unquoted_name(name));
      }
    }
    if (!missing.empty() && part.may_be_left_out) continue;
    if (!missing.empty()) {
      throw UsageError(fmt::format("the site's scheduler needs {{{}}} in '{}', which has no value: set it in resources",
                                   *missing.begin(), join(part.words, " ")));
    }
    for (const std::string& word : part.words) words.push_back(with_site_values(word, values));
  }
  return words;
}

SiteValues values_of_host(const std::string& host) {
  const passwd* user = ::getpwuid(::geteuid());  // NOLINT(concurrency-mt-unsafe)
  SiteValues values{{"user", user != nullptr ? user->pw_name : std::to_string(::geteuid())}};
  if (!host.empty()) values["host"] = host;
  return values;
}

std::string submit_to(const SiteScheduler& scheduler, const SiteValues& values, const std::string& script) {
  const std::vector<std::string> words = site_words(scheduler.submit, values);
  const CommandResult result = run_command(words, script);
  if (result.code == kNoProgram) throw Error(fmt::format("there is no {} on this machine", words.front()));
  if (result.code != 0) {
    const bool is_killed = result.code > 128;  // its time was over
    throw Error(
        fmt::format("{} {}: {}", words.front(),
                    is_killed ? "did not end, so a job may be queued that is not known here" : "did not take the job",
                    complaint(result)));
  }
  const RE2 pattern("(?m)" + scheduler.job);
  re2::StringPiece rest = result.out;
  std::string job;
  for (std::string found; RE2::FindAndConsume(&rest, pattern, &found);) job = found;  // a banner may come first
  if (job.empty()) {
    throw Error(
        fmt::format("{} printed no job number that scheduler.job matches, so a job may be queued that is not known "
                    "here: {}",
                    words.front(), complaint(result)));
  }
  return job;
}

std::vector<SiteValues> jobs_listed_by(const SiteScheduler& scheduler, const std::string& host) {
  const std::vector<std::string> words = site_words(scheduler.status, values_of_host(host));
  const CommandResult result = run_command(words);
  if (result.code == kNoProgram) throw Error(fmt::format("there is no {} on this machine", words.front()));
  if (result.code != 0) {
    if (!scheduler.none.empty() && RE2::PartialMatch(result.out + result.err, scheduler.none)) return {};
    throw Error(fmt::format("the queue does not answer: {}: {}", join(words, " "), complaint(result)));
  }
  const RE2 pattern(scheduler.line);
  std::vector<SiteValues> jobs;
  for (const std::string& line : split(result.out, '\n')) {
    if (auto job = job_of(line, pattern)) jobs.push_back(std::move(*job));
  }
  return jobs;
}

}  // namespace xlm
