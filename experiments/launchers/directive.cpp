// Checks further options of sbatch in a site file.
#include "experiments/launchers/directive.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {
namespace {

constexpr std::string_view kBlanks = " \t\n\v\f\r";
constexpr std::string_view kLettersWithValue = "bBCdDFiLmSwx";  // sbatch options with a value for sites

/// Options that a site may not use, and why. The script gives some already, and sbatch takes the last one. Others would
/// break the workers, or make sbatch do something else than submit.
struct OwnOptions {
  std::string_view why;
  std::vector<std::string_view> options;
};

const std::vector<OwnOptions>& own_options() {
  static const std::vector<OwnOptions> all{
      {"use resources.time", {"--time", "-t"}},
      {"use resources.memory", {"--mem", "--mem-per-cpu", "--mem-per-gpu"}},
      {"use resources.cpus", {"--cpus-per-task", "-c", "--cpus-per-gpu"}},
      {"use resources.gpus", {"--gpus", "-G", "--gpus-per-node", "--gpus-per-task", "--gpus-per-socket"}},
      {"a worker is one task on one node", {"--nodes", "-N", "--ntasks", "-n", "--ntasks-per-node"}},
      {"use save", {"--signal"}},
      {"use --jobs", {"--array", "-a"}},
      {"use partition", {"--partition", "-p"}},
      {"use account", {"--account", "-A"}},
      {"use qos", {"--qos", "-q"}},
      {"xlm finds workers by their jobs' names, made from 'experiment'", {"--job-name", "-J"}},
      {"logs are below the folder of runs", {"--output", "-o", "--error", "-e"}},
      {"a task that starts again appends to its log", {"--open-mode"}},
      {"a worker that has saved returns to the queue", {"--no-requeue"}},
      {"workers are submitted, found and cancelled on this machine's cluster", {"--clusters", "-M"}},
      {"nothing would be submitted; use xlm sweep --dry-run", {"--test-only"}},
      {"sbatch would not return; use xlm sweep --wait", {"--wait", "-W"}},
      {"xlm writes the script", {"--wrap"}},
      {"nothing would be submitted", {"--help", "-h", "--usage", "-u", "--version", "-V"}},
  };
  return all;
}

bool is_letter_option(std::string_view word) { return word.size() > 1 && word[0] == '-' && word[1] != '-'; }

/// Whether GPUs are among resources such as "tmpfs:10G,gpu:a100:2".
bool names_gpu(const std::string& resources) {
  const std::vector<std::string> parts = split(resources, ',');
  return std::ranges::any_of(parts, [](const std::string& part) {
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
  for (const OwnOptions& own : own_options()) {
    for (const std::string_view option : own.options) {
      if (gives_option(word, option)) throw UsageError(fmt::format("directives may not have {}: {}", option, own.why));
    }
  }
  if (is_letter_option(word) && word.size() > 2 && kLettersWithValue.find(word[1]) == std::string_view::npos) {
    throw UsageError(
        fmt::format("'{}' is several options in one word: write each as a separate item of the list", word));
  }
  if (gives_option(word, "--gres") && names_gpu(word.substr(std::min(word.find('='), word.size() - 1) + 1))) {
    throw UsageError(
        "directives may not have --gres of GPUs: use resources.gpus for their number and kind, such as a100:2");
  }
  return word;
}

}  // namespace xlm
