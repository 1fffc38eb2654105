// The runs behind a page.
#include "results/pages/run_appendix.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "results/pages/html.h"
#include "results/quantities/quantities.h"
#include "results/store/filter.h"
#include "results/store/run_list.h"

namespace xlm {
namespace {

std::string text_of(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  return value.is_number_float() ? with_digits(value.get<double>(), 6) : value.dump();
}

std::string experiment_of(const Json& run) { return text_of(run.value("experiment", Json())); }

std::string link_to(std::size_t number) { return fmt::format("<a href=\"#{}\">{}</a>", run_anchor(number), number); }

/// The keys in which runs of one experiment differ, by experiment.
std::map<std::string, std::set<std::string>> differing_keys(const std::vector<Json>& runs) {
  std::map<std::string, const Json*> first;
  std::map<std::string, std::set<std::string>> differing;
  for (const Json& run : runs) {
    if (!run.contains("params")) continue;
    const std::string experiment = experiment_of(run);
    const auto [reference, is_first] = first.try_emplace(experiment, &run["params"]);
    if (is_first) continue;
    for (const auto& [one, other] :
         {std::pair{reference->second, &run["params"]}, {&run["params"], reference->second}}) {
      for (const auto& [key, value] : one->items()) {
        if (!other->contains(key) || (*other)[key] != value) differing[experiment].insert(key);
      }
    }
  }
  return differing;
}

std::string pairs_table(const Json& values) {
  std::string out = "<table class=\"pairs\"><tbody>\n";
  for (const auto& [key, value] : values.items()) {
    out +=
        fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", html_escape(key), html_escape(text_of(value)));
  }
  return out + "</tbody></table>\n";
}

std::string shown_value(const std::string& column, const Json& value) {
  return value.is_number() ? column_number(column, value.get<double>()) : text_of(value);
}

/// Every evaluation and cost, as "test.bpc" and its value in a list's format.
Json measured(const Json& run) {
  Json values = Json::object();
  for (const Json& evaluation : run.value("evaluations", Json::array())) {
    for (const auto& [metric, value] : evaluation.items()) {
      if (metric == "split" || metric == "step") continue;
      const std::string column = evaluation["split"].get<std::string>() + "." + metric;
      values[column] = shown_value(column, value);
    }
  }
  const Json costs = run.value("costs", Json::object());
  for (const auto& [name, value] : costs.items()) values[name] = shown_value(name, value);
  return values;
}

std::string status_cell(const Json& run) {
  const std::string status = text_of(run.value("status", Json()));
  std::string reason = text_of(run.value("reason", Json()));
  if (const std::string file = text_of(run.value("params", Json::object()).value(kNotFrozen, Json())); !file.empty()) {
    reason += fmt::format("{}code not frozen: {}", reason.empty() ? "" : "; ", file);
  }
  return fmt::format("<td><span class=\"status {0}\">{0}</span>{1}</td>", html_escape(status),
                     reason.empty() ? "" : " <small>" + html_escape(reason) + "</small>");
}

std::string step_text(const Json& run) {
  const Json params = run.value("params", Json::object());
  const std::string step = text_of(run.value("step", Json()));
  const std::string steps = text_of(params.value("train.steps", Json()));
  return steps.empty() || steps == "0" || steps == step ? step : step + " of " + steps;
}

}  // namespace

std::string run_anchor(std::size_t number) { return fmt::format("run-{}", number); }

std::string main_results(const Json& run) {
  std::vector<std::string> parts;
  for (const Json& evaluation : run.value("evaluations", Json::array())) {
    const Quantity* measure = headline_of([&](const std::string& name) { return evaluation.contains(name); });
    if (measure == nullptr) continue;
    parts.push_back(fmt::format("{} {} {}", evaluation["split"].get<std::string>(), measure->label,
                                list_number(*measure, evaluation[measure->name].get<double>())));
  }
  std::reverse(parts.begin(), parts.end());  // validation before test
  return join(parts, ", ");
}

void RunAppendix::add(const std::vector<std::string>& runs) {
  std::optional<RunLister> lister;  // created on first use
  for (const std::string& run : runs) {
    if (!numbers_.try_emplace(run, order_.size() + 1).second) continue;
    if (!lister) lister.emplace(store_);
    order_.push_back(lister->run(run));
  }
}

std::vector<std::string> RunAppendix::ids() const {
  std::vector<std::string> found;
  for (const Json& run : order_) found.push_back(run["run_id"].get<std::string>());
  return found;
}

std::string RunAppendix::references(const std::vector<std::string>& runs) const {
  std::vector<std::size_t> numbers;
  for (const std::string& run : runs) {
    if (const auto known = numbers_.find(run); known != numbers_.end()) numbers.push_back(known->second);
  }
  std::sort(numbers.begin(), numbers.end());
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (last >= i + 2) {  // word joiners keep a range on one line
      parts.push_back(link_to(numbers[i]) + "&#8288;–&#8288;" + link_to(numbers[last]));
    } else {
      for (std::size_t each = i; each <= last; ++each) parts.push_back(link_to(numbers[each]));
    }
    i = last + 1;
  }
  return join(parts, ", ");
}

Json RunAppendix::json() const {
  Json json = Json::object();
  for (std::size_t i = 0; i < order_.size(); ++i) {
    Json run = order_[i];
    run["number"] = i + 1;
    run["results"] = main_results(run);
    run["measured"] = measured(run);
    const std::string id = run["run_id"].get<std::string>();
    json[id] = std::move(run);
  }
  return json;
}

std::string RunAppendix::section() const {
  const auto differing = differing_keys(order_);
  std::string out =
      "<div class=\"scroll\"><table class=\"runs\">\n<thead><tr><th></th><th>run</th><th>status</th><th>steps</th>";
  out += "<th>results</th><th>what differs in its experiment</th></tr></thead>\n";
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const Json& run = order_[i];
    const Json params = run.value("params", Json::object());
    std::vector<std::string> differences;
    if (const auto keys = differing.find(experiment_of(run)); keys != differing.end()) {
      for (const std::string& key : keys->second)
        differences.push_back(key + " " + shown_hash(text_of(params.value(key, Json()))));
    }
    out += fmt::format("<tbody id=\"{}\">\n<tr><td>{}</td><td class=\"id\">{}</td>{}<td class=\"number\">{}</td>",
                       run_anchor(i + 1), i + 1, html_escape(text_of(run["run_id"])), status_cell(run), step_text(run));
    out += fmt::format("<td>{}</td><td>{}</td></tr>\n", html_escape(main_results(run)),
                       html_escape(join(differences, ", ")));
    out += "<tr><td></td><td colspan=\"5\"><details><summary>configuration and all results</summary>\n";
    out += fmt::format("<p>experiment {}; created {}, started {}, finished {}</p>\n", html_escape(experiment_of(run)),
                       text_of(run.value("created", Json())), text_of(run.value("started", Json())),
                       text_of(run.value("finished", Json())));
    if (run.contains("parent")) {
      out += fmt::format("<p>goes on from step {} of {}</p>\n", text_of(run["parent_step"]),
                         html_escape(text_of(run["parent"])));
    }
    for (const Json& child : run.value("children", Json::array())) {
      out += fmt::format("<p>{} goes on from it</p>\n", html_escape(text_of(child)));
    }
    out += "<div class=\"columns\">\n" + pairs_table(params) + pairs_table(measured(run)) + "</div>\n";
    out += "</details></td></tr>\n</tbody>\n";
  }
  return out + "</table></div>\n";
}

}  // namespace xlm
