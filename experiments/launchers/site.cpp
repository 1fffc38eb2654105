// Reads what only the cluster's users know.
#include "experiments/launchers/site.h"

#include <string_view>

#include <fmt/format.h>

#include "base/command.h"
#include "base/error.h"
#include "experiments/launchers/directive.h"
#include "experiments/runs/own_submissions.h"

namespace xlm {
namespace {

std::string line_of(const Yaml& node, std::string_view what) {
  std::string text = scalar_text(node, what);
  if (text.find('\n') != std::string::npos) fail_at(node, fmt::format("{} must be one line", what));
  return text;
}

void read_line(const Yaml& map, const char* key, std::string& out) {
  if (const Yaml* node = map.given(key)) out = line_of(*node, key);
}

void read_lines(const Yaml& map, const char* key, std::vector<std::string>& out) {
  const Yaml* node = map.given(key);
  if (node == nullptr) return;
  if (!node->is_sequence()) fail_at(*node, fmt::format("{} must be a list of lines", key));
  for (const Yaml& item : node->items) out.push_back(line_of(item, key));
}

SiteApart read_apart(const Yaml& map) {
  if (!map.is_map()) fail_at(map, "apart must be a map\nto see one: xlm sweep --print-site apart");
  refuse_unknown(map, {"hosts", "place", "program", "send", "run", "jobs"});
  SiteApart apart;
  read_lines(map, "hosts", apart.hosts);
  read_line(map, "place", apart.place);
  read_line(map, "program", apart.program);
  apart.send = read_site_command(map, "send", {"host", "user", "folder", "name", "place", "runs"});
  apart.run = read_site_command(map, "run", {"host", "user", "script"});
  for (const auto& [key, is_missing] :
       {std::pair("hosts", apart.hosts.empty()), std::pair("place", apart.place.empty()),
        std::pair("send", apart.send.parts.empty()), std::pair("run", apart.run.parts.empty())}) {
    if (is_missing) fail_at(map, fmt::format("apart.{} is missing\nto see one: xlm sweep --print-site apart", key));
  }
  apart.jobs = read_count(map, "apart", "jobs", 0);
  return apart;
}

}  // namespace

fs::path find_site(const fs::path& named) {
  if (!named.empty()) return named;
  if (const std::string variable = environment_text("XLM_SITE"); !variable.empty()) return variable;
  const fs::path folder = user_folder();
  if (folder.empty()) return {};
  const fs::path file = folder / "site.yaml";
  std::error_code ignored;
  return fs::exists(file, ignored) ? file : fs::path();
}

Site read_site(const fs::path& file) {
  Site site{.file = file};
  if (file.empty()) return site;
  const Yaml tree = read_yaml_argument(file);
  if (tree.is_null()) return site;  // only comments
  if (!tree.is_map()) fail_at(tree, "a site file must be a map\nto write one: xlm sweep --print-site");
  refuse_unknown(tree, {"partition", "account", "qos", "resources", "save", "directives", "setup", "container",
                        "finally", "scheduler", "apart"});
  read_line(tree, "partition", site.partition);
  read_line(tree, "account", site.account);
  read_line(tree, "qos", site.qos);
  site.resources = read_resources(tree.find("resources"));
  if (const Yaml* save = tree.given("save")) site.save = read_duration(*save, "save");
  read_lines(tree, "directives", site.directives);
  for (std::string& directive : site.directives) {
    try {
      directive = read_directive(directive);
    } catch (const UsageError& error) {
      fail_at(*tree.find("directives"), error.what());
    }
  }
  read_lines(tree, "setup", site.setup);
  for (const std::string& line : site.setup) {
    if (line.starts_with("#SBATCH"))
      fail_at(*tree.find("setup"), "setup may not have options of sbatch: move them to directives");
  }
  read_line(tree, "container", site.container);
  site.finally = read_site_command(tree, "finally", {"experiment", "code"});
  if (const Yaml* apart = tree.given("apart")) site.apart = read_apart(*apart);
  if (const Yaml* scheduler = tree.given("scheduler")) {
    site.scheduler = read_scheduler(*scheduler);
    for (const char* key : {"partition", "account", "qos", "directives"}) {
      if (const Yaml* node = tree.given(key))
        fail_at(*node, fmt::format("{} is for Slurm: give such options in scheduler.submit", key));
    }
  }
  return site;
}

}  // namespace xlm
