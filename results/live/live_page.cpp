// The live page.
#include "results/live/live_page.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/secret.h"
#include "base/text.h"
#include "results/pages/html.h"
#include "results/pages/page.h"
#include "results/pages/run_appendix.h"
#include "results/pages/run_explorer.h"

namespace xlm {
namespace {

constexpr std::int64_t kMaxRowsAtOnce = 100'000;
constexpr std::size_t kMaxAskedCurves = 50;
constexpr std::size_t kMaxRunsOfFile = 2000;  // a file holds the whole configuration of each

HttpResponse json_response(const Json& json, int status = 200) {
  return {.status = status, .body = json.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

HttpResponse plain_response(int status, const std::string& text) {
  return {.status = status, .type = "text/plain", .body = text + "\n"};
}

/// Whether a browser was sent here by a name of this machine. A tunnel may have another port. Any other name may belong
/// to a page elsewhere that was made to point here.
bool is_this_machine(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos) host = host.substr(0, colon);
  constexpr std::array<std::string_view, 3> kNames{kLoopback, "localhost", "[::1]"};
  return std::ranges::find(kNames, host) != kNames.end();
}

std::size_t asked_rows(const HttpRequest& request) {
  const std::string text = request.one("limit");
  if (text.empty()) return RunQuery().limit;
  std::int64_t rows = 0;
  if (parse_integer(text, rows) && rows >= 1 && rows <= kMaxRowsAtOnce) return static_cast<std::size_t>(rows);
  throw UsageError(fmt::format("limit={}: a whole number from 1 to {}", text, kMaxRowsAtOnce));
}

}  // namespace

HttpResponse LivePage::page() const {
  Json explorer = explorer_looks();
  explorer["where"] = settings_.where;
  explorer["version"] = runs_.with([](const RunsAtOneTime& runs) { return runs.version; });
  const std::string body = fmt::format("<main class=\"wide\">\n<h1>{}</h1>\n{}</main>\n", html_escape(settings_.title),
                                       explorer_section("Runs"));
  return {.type = "text/html",
          .body = render_document(
              {.title = settings_.title,
               .body = body,
               .data = {{"runs", Json::object()}, {"figures", Json::array()}, {"explorer", std::move(explorer)}},
               .plots = true,
               .explores = true,
               .asks = true})};
}

HttpResponse LivePage::state() const {
  return runs_.with([&](const RunsAtOneTime& runs) {
    return json_response({{"version", runs.version}, {"runs", runs.runs.size()}, {"problem", runs_.problem()}});
  });
}

HttpResponse LivePage::list(const HttpRequest& request) const {
  const RunQuery query{.where = request.all("where"),
                       .columns = request.all("column"),
                       .sort = request.one("sort"),
                       .reverse = request.one("reverse") == "1",
                       .limit = asked_rows(request)};
  return runs_.with([&](RunsAtOneTime& runs) { return json_response(runs.explorer.list(query)); });
}

HttpResponse LivePage::curves(const HttpRequest& request) const {
  const std::string axis = request.one("axis");
  const CurveQuery query{
      .runs = request.all("run"), .quantity = request.one("quantity"), .axis = axis.empty() ? CurveQuery().axis : axis};
  if (query.runs.size() > kMaxAskedCurves) throw UsageError(fmt::format("at most {} curves at once", kMaxAskedCurves));
  return runs_.with([&](RunsAtOneTime& runs) { return json_response(runs.explorer.curves(query)); });
}

HttpResponse LivePage::run(const HttpRequest& request) const {
  const std::string id = request.one("run");
  return runs_.with([&](RunsAtOneTime& runs) {
    if (!std::binary_search(runs.runs.ids().begin(), runs.runs.ids().end(), id)) {
      throw DataError(fmt::format("there is no run '{}'", id));
    }
    RunAppendix appendix(runs.runs.store());
    appendix.add({id});
    return json_response(appendix.json()[id]);
  });
}

HttpResponse LivePage::file(const HttpRequest& request) const {
  return runs_.with([&](RunsAtOneTime& runs) -> HttpResponse {
    const std::vector<std::string> ids = runs.explorer.ids(request.all("where"));
    if (ids.size() > kMaxRunsOfFile) {
      throw UsageError(
          fmt::format("a file holds at most {} runs, and {} meet the conditions: choose fewer by conditions",
                      kMaxRunsOfFile, ids.size()));
    }
    return {.type = "text/html", .body = runs_page(runs.runs.store(), settings_.title, ids), .file_name = "runs.html"};
  });
}

HttpResponse LivePage::answer(std::string_view name, const HttpRequest& request) const {
  if (name.empty()) return page();
  if (name == "state.json") return state();
  if (name == "runs.json") return list(request);
  if (name == "curves.json") return curves(request);
  if (name == "run.json") return run(request);
  if (name == "page.html") return file(request);
  return plain_response(404, "not found");
}

HttpResponse LivePage::answer(const HttpRequest& request) const {
  if (!is_this_machine(request.host)) {
    return plain_response(403, "this page is for browsers on this machine: open it as 127.0.0.1 or localhost");
  }
  std::string_view rest = request.path;
  const bool begins = rest.starts_with('/');
  if (begins) rest.remove_prefix(1);
  const std::size_t slash = rest.find('/');
  const bool is_allowed =
      begins && slash != std::string_view::npos && same_proof(rest.substr(0, slash), settings_.token);
  if (!is_allowed) return plain_response(404, "not found");
  try {
    return answer(rest.substr(slash + 1), request);
  } catch (const Error& error) {
    const int status = error.code() == kUsage ? 400 : error.code() == kBadData ? 404 : 500;
    return json_response({{"error", error.what()}}, status);
  } catch (const std::exception& error) {
    return json_response({{"error", error.what()}}, 500);
  }
}

}  // namespace xlm
