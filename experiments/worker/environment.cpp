// The beginning of an attempt at a run, and environment.json.
#include "experiments/worker/environment.h"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "base/error.h"
#include "base/sha256.h"
#include "base/shared_library.h"
#include "base/text.h"
#include "base/version.h"
#include "experiments/programs/program_environment.h"
#include "experiments/runs/process_identity.h"

namespace xlm {
namespace {

std::string program_of(const Json& origin) {
  const std::string core = text_member(origin, "core_sha256");
  return fmt::format("xlm {} ({}{})", text_member(origin, "xlm"), text_member(origin, "commit"),
                     core.empty() ? "" : ", core " + core.substr(0, 8));
}

bool same_program(const Json& a, const Json& b) {
  if (!text_member(a, "core_sha256").empty() && !text_member(b, "core_sha256").empty()) {
    return text_member(a, "core_sha256") == text_member(b, "core_sha256");
  }
  return text_member(a, "xlm") == text_member(b, "xlm") && text_member(a, "commit") == text_member(b, "commit");
}

/// The origin {"device": "cpu" | "cuda", "xlm": …, "commit": …, "core_sha256": …} of one part of a run. Takes from
/// environment.json what is there. Of a program's run it is {"device": …, "program": what it runs with}.
Json origin_of(const Json& environment) {
  Json origin = Json::object();
  if (const auto program = environment.find("program"); program != environment.end()) {
    origin["program"] = *program;
  } else {
    for (const char* key : {"xlm", "commit", "core_sha256"}) {
      if (const std::string text = text_member(environment, key); !text.empty()) origin[key] = text;
    }
  }
  const std::string device = text_member(environment, "device");  // cuda:1
  if (!device.empty()) origin["device"] = device.substr(0, device.find(':'));
  return origin;
}

/// How the part that begins now differs from the first one, in words; "" if it does not. Programs are the same if their
/// core libraries are. If a library is unknown, version and commit decide. Programs of users are the same if their
/// packages are.
std::string changed_origin(const Json& first, const Json& now) {
  std::vector<std::string> changes;
  const std::string device = text_member(first, "device");
  if (!device.empty() && device != text_member(now, "device")) {
    changes.push_back(fmt::format("on {} and would resume on {}", device, text_member(now, "device")));
  }
  if (const auto program = first.find("program"); program != first.end()) {
    const std::string packages = changed_packages(*program, now.value("program", Json::object()));
    if (!packages.empty()) changes.push_back("with other packages: " + packages);
  } else if (!same_program(first, now)) {
    changes.push_back(fmt::format("with {} and would resume with {}", program_of(first), program_of(now)));
  }
  return join(changes, "; ");
}

/// What submission wrote, with what is known now.
Json attempt_environment(Json submitted, const AttemptSetting& setting, const std::vector<std::string>& command) {
  Json environment = submitted.is_object() ? std::move(submitted) : Json::object();
  environment["xlm"] = kVersion;
  environment["commit"] = kCommit;
  environment["executable_sha256"] = sha256_file(program_path());
  environment.update(setting.facts);
  environment["host"] = this_process().host;
  environment["threads"] = setting.threads;
  environment["processes"] = setting.processes;
  environment["command"] = command;
  environment.erase("hosts");  // of several machines, which earlier versions used together
  return environment;
}

/// Bits that a CPU computes are not those of a GPU, and another program may compute something else. Adds the origin of
/// the first part to this part's environment. Throws UsageError if it is another one.
void pin_origin(const Run& run, bool resumes, Json& environment, const WorkSettings& settings, JournalSink& sink) {
  const Json now = origin_of(environment);
  const bool resumed = resumes && run.environment.contains("device");
  const Json first = resumed ? run.environment.value("first", origin_of(run.environment)) : now;
  environment["first"] = first;
  const std::string change = changed_origin(first, now);
  if (change.empty()) return;
  if (!settings.anyway) {
    throw UsageError(
        fmt::format("the run {} began {}\nits result would be of neither: use what it began with, or say --anyway",
                    run.id, change));
  }
  sink.message(fmt::format("warning: began {}, as --anyway says", change));
}

}  // namespace

void begin_attempt(const Run& run, const AttemptSetting& setting, const WorkSettings& settings, JournalSink& sink) {
  Json environment = attempt_environment(run.environment, setting, settings.command);
  pin_origin(run, setting.resumes, environment, settings, sink);
  sink.check_owner();
  write_file(RunPaths{run.folder}.environment(), json_text(environment));
  const std::string job = this_process().job;
  Json state = {{"host", environment["host"]}, {"pid", this_process().pid}};
  if (!job.empty()) state["job"] = job;
  if (setting.processes > 1) state["processes"] = setting.processes;
  if (setting.fresh) state["fresh"] = true;
  sink.state(RunStatus::kRunning, state);
  sink.log(fmt::format("{} on {}, threads: {}, worker {}{}", run.id, setting.facts.at("device").get<std::string>(),
                       setting.threads, sink.token(), job.empty() ? "" : " in job " + job));
}

std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline");
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  words.erase(words.begin(), words.begin() + std::min(std::ssize(words), static_cast<std::ptrdiff_t>(loader_words())));
  if (is_portable() && !words.empty()) words.front() = executable_path().string();
  return words;
}

}  // namespace xlm
