// The description of continuations in a recipe: which models continue which passages of a split.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/options.h"
#include "base/yaml.h"
#include "results/store/filter.h"

namespace xlm {

struct ContinuationDescription {
  struct Row {
    std::string label;
    std::vector<Filter> where;
  };
  struct Prompt {
    std::int64_t document = 1;  // of the split, counted from 1
    std::int64_t first = 1;     // its first token in the document, counted from 1

    void visit(OptionVisitor& v) {
      v.field({.name = "document", .help = "document of the split, counted from 1", .min = 1}, document);
      v.field({.name = "first", .help = "its first token in the document, counted from 1", .min = 1}, first);
    }
  };

  std::string title;
  std::string name;           // for --name
  std::vector<Filter> where;  // for every row
  std::vector<Row> rows;
  std::vector<Prompt> prompts;
  std::string split = "valid";
  std::int64_t prompt_tokens = 300;  // Yoshida et al. 2020, §5.3
  std::int64_t tokens = 60;
  std::string place;  // file:line, for messages

  /// All keys but title, where, rows and prompts, which have separate readers.
  void visit(OptionVisitor& v) {
    v.field({.name = "name", .help = "for --name; default: made from the title"}, name);
    v.field({.name = "split", .help = "the split that the prompts are taken from"}, split);
    v.field({.name = "prompt_tokens", .help = "length of every prompt, in tokens", .min = 1}, prompt_tokens);
    v.field({.name = "tokens", .help = "length of every continuation, in tokens", .min = 1, .max = 1e6}, tokens);
  }
};

const std::vector<std::string>& continuation_keys();

/// Reads one description (see find_exhibits). Throws UsageError with file:line.
ContinuationDescription read_continuation_description(const Yaml& node);

}  // namespace xlm
