// What may stand in a site file as a further option of sbatch.
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
constexpr std::string_view kLettersWithValue = "bBCdDFGiLmSwx";  // of sbatch's options that are left to a site

/// What a batch script says already would be said twice, and the second counts; some of the rest would end what its
/// workers live by, or have sbatch do something else than submit.
constexpr auto kOwn = std::to_array<std::pair<std::string_view, std::string_view>>({
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
    {"--clusters", "workers are asked for, found and cancelled on the cluster of this machine"},
    {"-M", "workers are found and cancelled on the cluster of this machine"},
    {"--test-only", "nothing would be submitted; xlm sweep --dry-run asks Slurm so"},
    {"--wait", "sbatch would not come back; xlm sweep --wait waits"},
    {"-W", "sbatch would not come back; xlm sweep --wait waits"},
    {"--wrap", "the script is another"},
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

/// One option, and its value in the same word or in a second one.
std::string one_word(std::string_view line) {
  const std::vector<std::string> words = directive_words(line);
  if (words.empty() || !words[0].starts_with('-')) {
    throw UsageError(fmt::format("'{}' is no option of sbatch: they begin with -", line));
  }
  const std::string& option = words[0];
  const bool has_value = is_letter_option(option) ? option.size() > 2 : option.find('=') != std::string::npos;
  if (words.size() > 2 || (words.size() == 2 && (has_value || words[1].starts_with('-')))) {
    throw UsageError(fmt::format("'{}' is more than one option: each is an item of its own in the list", line));
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
    if (gives_option(word, option)) throw UsageError(fmt::format("{} is not for directives: {}", option, why));
  }
  if (is_letter_option(word) && word.size() > 2 && kLettersWithValue.find(word[1]) == std::string_view::npos) {
    throw UsageError(fmt::format("'{}' is several options in one: each is an item of its own in the list", word));
  }
  if (gives_option(word, "--gres") && names_gpu(word.substr(std::min(word.find('='), word.size() - 1) + 1))) {
    throw UsageError("--gres of GPUs is not for directives: resources.gpus says how many, and --constraint which kind");
  }
  return word;
}

}  // namespace xlm
