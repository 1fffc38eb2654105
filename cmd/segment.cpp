// xlm segment: a text with the boundaries that a model predicts.
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "cmd/command.h"
#include "cmd/text_input.h"
#include "experiments/runs/model_locator.h"
#include "experiments/worker/core_library.h"

namespace xlm {
namespace {

struct SegmentCommand {
  std::string model;
  std::string text;
  std::string file;
  std::string clean = "none";
  std::vector<std::string> overrides;
};

std::string chosen_text(const SegmentCommand& command) {
  if (!command.text.empty() && !command.file.empty()) throw UsageError("--text and --file exclude each other");
  std::string text = command.text;
  if (command.file == "-" || (text.empty() && command.file.empty() && has_piped_input())) {
    text = read_plain_text("-");
  } else if (!command.file.empty()) {
    text = read_plain_text(command.file);
  }
  if (text.empty() && command.file.empty()) {
    throw UsageError("give the text with --text, in a file with --file, or pipe it in");
  }
  text = cleaned(text, command.clean);
  if (text.empty()) throw DataError("the text is empty");
  return text;
}

/// Without colours a | ends each group; with colours groups alternate between two.
std::string shown_groups(const Segmented& segmented, const Terminal& terminal) {
  std::string shown;
  for (std::size_t i = 0; i < segmented.groups.size(); ++i) {
    const std::string& group = segmented.groups[i];
    if (terminal.colour) {
      shown += paint(terminal, i % 2 == 0 ? Colour::kBlue : Colour::kYellow, group);
    } else {
      shown += group;
    }
    if (i < static_cast<std::size_t>(segmented.boundaries)) shown += paint(terminal, Colour::kGrey, "|");
  }
  return shown + "\n";
}

int run_segment(const SegmentCommand& command, const GlobalOptions& global) {
  const LocatedModel place = locate_model(command.model, global.runs);
  const RunOptions options = evaluation_options(place, command.overrides, WeightsUse::kSegment);
  const Segmented segmented = core().segment({.model = place.model, .options = options, .text = chosen_text(command)});
  const double shortening =
      static_cast<double>(segmented.tokens) / static_cast<double>(std::max<std::int64_t>(1, segmented.boundaries));
  if (global.json) {
    const Json json{{"model", place.name},
                    {"groups", segmented.groups},
                    {"tokens", segmented.tokens},
                    {"boundaries", segmented.boundaries},
                    {"shortening_factor", segmented.boundaries > 0 ? Json(shortening) : Json()}};
    print(json_text(json));
    return kDone;
  }
  print(shown_groups(segmented, global.standard_output));
  if (!global.quiet) {
    say(fmt::format("{} tokens, {} boundaries{}\n", segmented.tokens, segmented.boundaries,
                    segmented.boundaries > 0 ? fmt::format(": shortening factor {:.2f}", shortening) : ""));
  }
  return kDone;
}

}  // namespace

std::function<int()> declare_segment(CLI::App& app, const GlobalOptions& global) {
  const auto command = std::make_shared<SegmentCommand>();
  app.footer(
      "A boundary after a character ends a group, which is one position of the middle layers. Boundaries of type "
      "gumbel\n"
      "are sampled, with the same result at every call.\n"
      "\nExamples:\n"
      "  xlm segment hourglass-text8-3fa9c1d240b7e115 --text 'the quick brown fox'\n"
      "  xlm segment runs/hourglass-text8-3fa9c1d240b7e115/model --file page.txt --clean text8 --json\n"
      "  xlm segment byte-patches-books-77e1c0ffee15900d --file chapter.txt\n");
  app.add_option("model", command->model, "Run id, the beginning of it or of its hash, run folder, or model folder")
      ->required()
      ->type_name("MODEL");
  app.add_option("overrides", command->overrides, "Options of the computation: eval.context=512 device=cpu")
      ->type_name("KEY=VALUE");
  app.add_option("--text", command->text, "The text")->type_name("TEXT");
  app.add_option("--file", command->file, "File with the text; -: standard input (the default if a text is piped in)")
      ->type_name("FILE");
  add_clean_option(app, command->clean);
  return [command, &global] { return run_segment(*command, global); };
}

}  // namespace xlm
