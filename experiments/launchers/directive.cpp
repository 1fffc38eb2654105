// Checks further options of sbatch in a site file.
#include "experiments/launchers/directive.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {
namespace {

constexpr std::string_view kBlanks = " \t\n\v\f\r";
constexpr std::string_view kLettersWithValue = "bBCdDFGiLmSwx";  // sbatch options with a value for sites

/// Options that a site may not use, and why. The script gives some already, and sbatch takes the last one. Others would
/// break the workers, or make sbatch do something else than submit.
constexpr auto kOwn = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"--time", "use resources.time"},
    {"-t", "use resources.time"},
    {"--mem", "use resources.memory"},
    {"--cpus-per-task", "use resources.cpus"},
    {"-c", "use resources.cpus"},
    {"--nodes", "a worker is one task on one node"},
    {"-N", "a worker is one task on one node"},
    {"--ntasks", "a worker is one task on one node"},
    {"-n", "a worker is one task on one node"},
    {"--ntasks-per-node", "a worker is one task on one node"},
    {"--signal", "use save"},
    {"--array", "use --jobs"},
    {"-a", "use --jobs"},
    {"--partition", "use partition"},
    {"-p", "use partition"},
    {"--account", "use account"},
    {"-A", "use account"},
    {"--qos", "use qos"},
    {"-q", "use qos"},
    {"--job-name", "xlm finds workers by their jobs' names, made from 'experiment'"},
    {"-J", "xlm finds workers by their jobs' names, made from 'experiment'"},
    {"--output", "logs are below the folder of runs"},
    {"-o", "logs are below the folder of runs"},
    {"--error", "logs are below the folder of runs"},
    {"-e", "logs are below the folder of runs"},
    {"--open-mode", "a task that starts again appends to its log"},
    {"--no-requeue", "a worker that has saved returns to the queue"},
    {"--clusters", "workers are submitted, found and cancelled on this machine's cluster"},
    {"-M", "workers are submitted, found and cancelled on this machine's cluster"},
    {"--test-only", "nothing would be submitted; use xlm sweep --dry-run"},
    {"--wait", "sbatch would not return; use xlm sweep --wait"},
    {"-W", "sbatch would not return; use xlm sweep --wait"},
    {"--wrap", "xlm writes the script"},
    {"--help", "nothing would be submitted"},
    {"-h", "nothing would be submitted"},
    {"--usage", "nothing would be submitted"},
    {"-u", "nothing would be submitted"},
    {"--version", "nothing would be submitted"},
    {"-V", "nothing would be submitted"},
});

bool is_letter_option(std::string_view word) { return word.size() > 1 && word[0] == '-' && word[1] != '-'; }

/// Whether GPUs are among resources such as "tmpfs:10G,gpu:a100:2".
bool names_gpu(const std::string& resources) {
  const std::vector<std::string> parts = split(resources, ',');
  return std::any_of(parts.begin(), parts.end(), [](const std::string& part) {
    const std::string_view name = trim(std::string_view(part).substr(0, part.find_first_of(":=")));
    return name == "gpu";
  });
}

/// One option with its value, given as one word or as two.
std::string one_word(std::string_view line) {
  const std::vector<std::string> words = directive_words(line);
  if (words.empty() || !words[0].starts_with('-')) {
    throw UsageError(fmt::format("'{}' is no option of sbatch: options begin with -", line));
  }
  const std::string& option = words[0];
  const bool has_value = is_letter_option(option) ? option.size() > 2 : option.find('=') != std::string::npos;
  if (words.size() > 2 || (words.size() == 2 && (has_value || words[1].starts_with('-')))) {
    throw UsageError(fmt::format("'{}' is more than one option: write each as a separate item of the list", line));
  }
  if (words.size() == 1) return option;
  return option + (is_letter_option(option) ? "" : "=") + words[1];
}

}  // namespace

std::vector<std::string> directive_words(std::string_view line) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while ((at = line.find_first_not_of(kBlanks, at)) < line.size() && line[at] != '#') {
    std::string word;
    char quote = '\0';
    for (; at < line.size() && (quote != '\0' || kBlanks.find(line[at]) == std::string_view::npos); ++at) {
      const char c = line[at];
      if (c == '\\') {
        if (++at < line.size()) word += line[at];
      } else if (quote == '\0' && (c == '"' || c == '\'')) {
        quote = c;
      } else if (quote != '\0' && c == quote) {
        quote = '\0';
      } else if (quote == '\0' && c == '#') {
        at = line.size();
      } else {
        word += c;
      }
    }
    words.push_back(std::move(word));
  }
  return words;
}

bool gives_option(std::string_view word, std::string_view option) {
  if (is_letter_option(option)) return word.starts_with(option);
  return !is_letter_option(word) && option.starts_with(word.substr(0, word.find('=')));
}

std::string read_directive(std::string_view line) {
  std::string word = one_word(line);
  for (const auto& [option, why] : kOwn) {
    if (gives_option(word, option)) throw UsageError(fmt::format("directives may not have {}: {}", option, why));
  }
  if (is_letter_option(word) && word.size() > 2 && kLettersWithValue.find(word[1]) == std::string_view::npos) {
    throw UsageError(
        fmt::format("'{}' is several options in one word: write each as a separate item of the list", word));
  }
  if (gives_option(word, "--gres") && names_gpu(word.substr(std::min(word.find('='), word.size() - 1) + 1))) {
    throw UsageError(
        "directives may not have --gres of GPUs: use resources.gpus for their number and --constraint for their kind");
  }
  return word;
}

}  // namespace xlm
