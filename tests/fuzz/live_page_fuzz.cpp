// libFuzzer target: any text as a question to the live page, the name of what is asked for and then KEY=VALUE, one per
// line. Nothing may be thrown, and what is called JSON must be JSON.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "results/live/live_page.h"
#include "results/live/live_runs.h"

namespace {

constexpr const char* kToken = "token";

xlm::Store made_store() {
  std::vector<xlm::Run> runs;
  for (const char* id : {"a", "b"}) {
    xlm::Run run;
    run.id = id;
    run.experiment = "spans";
    run.status = xlm::RunStatus::kDone;
    run.created = 1000;
    run.params = {{"model.span", 64}, {"seed", runs.size()}, {"data.name", "text8"}};
    for (const std::int64_t step : {50, 100}) {
      run.metrics["bpc"].emplace(step, 2.0 - 0.01 * static_cast<double>(step));
      run.metrics["training_tokens"].emplace(step, 512.0 * static_cast<double>(step));
    }
    runs.push_back(std::move(run));
  }
  xlm::Store store = xlm::Store::in_memory();
  store.add(runs);
  return store;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const xlm::LiveRuns runs(made_store);
  static const xlm::LivePage page(runs, {.token = kToken, .title = "", .where = ""});
  const std::vector<std::string> lines = xlm::split(std::string(reinterpret_cast<const char*>(data), size), '\n');
  if (lines.empty() || lines.front().empty()) return 0;  // the page itself has megabytes
  xlm::HttpRequest request{.host = "localhost", .path = page.path() + lines.front(), .query = {}};
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::size_t equals = lines[i].find('=');
    if (equals == std::string::npos) continue;
    request.query.emplace_back(lines[i].substr(0, equals), lines[i].substr(equals + 1));
  }
  const xlm::HttpResponse response = page.answer(request);
  const bool known = response.status == 200 || response.status == 400 || response.status == 404;
  if (!known) std::abort();
  if (response.type == "application/json" && !xlm::parse_json_if_any(response.body)) std::abort();
  return 0;
}
