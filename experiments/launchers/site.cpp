// What only the cluster's users know of it.
#include "experiments/launchers/site.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {
namespace {

std::string line_of(const Yaml& node, std::string_view what) {
  std::string text = scalar_text(node, what);
  if (text.find('\n') != std::string::npos) fail_at(node, fmt::format("{} must be one line", what));
  return text;
}

void read_line(const Yaml& map, const char* key, std::string& out) {
  const Yaml* node = map.find(key);
  if (node != nullptr && !node->is_null()) out = line_of(*node, key);
}

void read_lines(const Yaml& map, const char* key, std::vector<std::string>& out) {
  const Yaml* node = map.find(key);
  if (node == nullptr || node->is_null()) return;
  if (!node->is_sequence()) fail_at(*node, fmt::format("{} must be a list of lines", key));
  for (const Yaml& item : node->items) out.push_back(line_of(item, key));
}

/// Whether GPUs are among resources such as "tmpfs:10G,gpu:a100:2".
bool names_gpu(const std::string& resources) {
  const std::vector<std::string> parts = split(resources, ',');
  return std::any_of(parts.begin(), parts.end(), [](const std::string& part) {
    const std::string_view name = trim(std::string_view(part).substr(0, part.find_first_of(":=")));
    return name == "gpu";
  });
}

/// What a batch script says already would be said twice, and the second counts; of the rest some would end what its
/// workers live by.
void check_directive(const Yaml& node, const std::string& directive) {
  using Option = std::pair<std::string_view, std::string_view>;
  constexpr auto kOwn = std::to_array<Option>({
      {"--time", "resources.time says it"},
      {"-t", "resources.time says it"},
      {"--mem", "resources.memory says it"},
      {"--cpus-per-task", "resources.cpus says it"},
      {"-c", "resources.cpus says it"},
      {"--nodes", "resources.nodes says it"},
      {"-N", "resources.nodes says it"},
      {"--ntasks", "resources.nodes says it, a task for each"},
      {"-n", "resources.nodes says it, a task for each"},
      {"--ntasks-per-node", "resources.nodes says it, a task for each"},
      {"--signal", "save says it"},
      {"--array", "--jobs says it"},
      {"-a", "--jobs says it"},
      {"--partition", "partition says it"},
      {"-p", "partition says it"},
      {"--account", "account says it"},
      {"-A", "account says it"},
      {"--qos", "qos says it"},
      {"-q", "qos says it"},
      {"--job-name", "workers are found by their jobs' names, which follow from 'experiment'"},
      {"-J", "workers are found by their jobs' names, which follow from 'experiment'"},
      {"--output", "logs lie below the folder of runs"},
      {"-o", "logs lie below the folder of runs"},
      {"--error", "logs lie below the folder of runs"},
      {"-e", "logs lie below the folder of runs"},
      {"--open-mode", "a log goes on where a task begins again"},
      {"--no-requeue", "a worker that has saved goes back into the queue"},
  });
  const std::string name = directive.substr(0, directive.find_first_of("= "));
  for (const auto& [option, why] : kOwn) {
    const bool is_letter = option.size() == 2;  // whose value may follow at once: -n4
    if (is_letter ? directive.starts_with(option) : name == option) {
      fail_at(node, fmt::format("{} is not for directives: {}", option, why));
    }
  }
  if (name == "--gres" && names_gpu(directive.substr(std::min(name.size() + 1, directive.size())))) {
    fail_at(node, "--gres of GPUs is not for directives: resources.gpus says how many, and --constraint which kind");
  }
}

}  // namespace

fs::path find_site(const fs::path& named) {
  if (!named.empty()) return named;
  if (const char* variable = std::getenv("XLM_SITE"); variable != nullptr && *variable != '\0') return variable;
  const char* configuration = std::getenv("XDG_CONFIG_HOME");
  const char* home = std::getenv("HOME");
  fs::path folder;
  if (configuration != nullptr && fs::path(configuration).is_absolute()) {  // the standard: others are ignored
    folder = configuration;
  } else if (home != nullptr && *home != '\0') {
    folder = fs::path(home) / ".config";
  } else {
    return {};
  }
  const fs::path file = folder / "xlm" / "site.yaml";
  std::error_code ignored;
  return fs::exists(file, ignored) ? file : fs::path();
}

Site read_site(const fs::path& file) {
  Site site{.file = file};
  if (file.empty()) return site;
  const Yaml tree = read_yaml_argument(file).tree;
  if (tree.is_null()) return site;  // comments alone
  if (!tree.is_map()) fail_at(tree, "a site file is a map; xlm sweep --print-site writes one");
  refuse_unknown(tree, {"partition", "account", "qos", "resources", "save", "directives", "setup", "container"});
  read_line(tree, "partition", site.partition);
  read_line(tree, "account", site.account);
  read_line(tree, "qos", site.qos);
  site.resources = read_resources(tree.find("resources"));
  if (const Yaml* save = tree.find("save"); save != nullptr && !save->is_null()) {
    site.save = read_duration(*save, "save");
  }
  read_lines(tree, "directives", site.directives);
  for (const std::string& directive : site.directives) {
    if (!directive.starts_with("-")) {
      fail_at(*tree.find("directives"), fmt::format("'{}' is no option of sbatch: they begin with -", directive));
    }
    check_directive(*tree.find("directives"), directive);
  }
  read_lines(tree, "setup", site.setup);
  read_line(tree, "container", site.container);
  return site;
}

}  // namespace xlm
