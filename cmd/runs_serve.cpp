// xlm runs watch --serve: runs and their curves in a browser.
#include "cmd/runs_watch.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/error.h"
#include "base/progress.h"
#include "base/secret.h"
#include "base/stop.h"
#include "base/text.h"
#include "cmd/results_store.h"
#include "experiments/configuration/configuration.h"
#include "experiments/launchers/scheduler.h"
#include "results/exhibits/exhibits.h"
#include "results/live/http_server.h"
#include "results/live/live_page.h"
#include "results/live/live_runs.h"

namespace xlm {
namespace {

constexpr double kStopSeconds = 0.1;  // between questions whether to stop
constexpr double kLookSeconds = 2;    // between looks at run folders
constexpr double kRestShare = 4;      // a slow file system rests so many times as long as a look takes

/// The conditions that the page begins with: those of the command, or the experiment of its sweep.
std::string first_conditions(const WatchCommand& command) {
  parse_filters(command.where);  // complains of wrong ones
  if (command.sweep.empty()) return join(command.where, ", ");
  const std::vector<std::string> overrides(command.sweep.begin() + 1, command.sweep.end());
  const std::string experiment =
      recipe_experiment(read_configuration(command.sweep.front(), command.profile, overrides));
  if (experiment.empty()) return "";
  return Filter{.column = "experiment", .values = {Value(experiment)}}.text();
}

std::string name_of_this_machine() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "HOST";
}

void print_address(const std::string& address, int port, const GlobalOptions& global) {
  if (global.json) return print(Json{{"address", address}, {"port", port}}.dump() + "\n");
  print(address + "\n");
  if (global.quiet) return;
  say(
      fmt::format("open it in a browser on this machine; Ctrl-C ends it\n"
                  "from another machine: ssh -N -L {0}:{1}:{0} {2}, and open the same address there\n",
                  port, kLoopback, name_of_this_machine()));
}

/// Looks at the run folders again and again until a signal asks to stop.
void follow_folders(LiveRuns& runs) {
  double next = monotonic_seconds() + kLookSeconds;
  while (!stop_requested()) {
    sleep_seconds(kStopSeconds);
    const double began = monotonic_seconds();
    if (began < next) continue;
    runs.refresh();
    const double ended = monotonic_seconds();
    next = ended + std::max(kLookSeconds, kRestShare * (ended - began));
  }
}

}  // namespace

int serve_runs(const WatchCommand& command, const GlobalOptions& global) {
  if (command.once) throw UsageError("--once shows the state and exits: it does not go with --serve");
  const std::string where = first_conditions(command);
  LiveRuns runs([&global] { return open_store(global); });
  if (!global.verbose) spdlog::set_level(spdlog::level::err);  // later looks would repeat their warnings
  const LivePage page(runs, {.token = fresh_secret(),
                             .title = "Runs in " + fs::absolute(global.runs).lexically_normal().string(),
                             .where = where});
  install_stop_handlers();
  const std::unique_ptr<HttpServer> server =
      serve_http(static_cast<int>(command.port), [&page](const HttpRequest& request) { return page.answer(request); });
  const std::string address = fmt::format("http://{}:{}{}", kLoopback, server->port(), page.path());
  print_address(address, server->port(), global);
  follow_folders(runs);
  return kStopped;
}

}  // namespace xlm
