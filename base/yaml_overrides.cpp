// KEY=VALUE: a value that overrides a part of a tree.
#include <fmt/format.h>

#include "base/core_schema.h"
#include "base/error.h"
#include "base/text.h"
#include "base/words.h"
#include "base/yaml.h"

namespace xlm {
namespace {

/// Whether a value is all of `text`. YAML's signs begin comments, blocks, tags and documents, which belong to no value.
bool is_all_of(const Yaml& value, std::string_view text) {
  if (value.is_null()) return is_null_word(text);
  if (value.is_scalar()) return value.scalar == text;
  if (text.find('#') == std::string_view::npos) return true;
  try {
    return parse_yaml(fmt::format("[{}]", text), "").items.size() == 1;  // a comment would swallow the bracket
  } catch (const UsageError&) {
    return false;
  }
}

/// A word in quotes, or YAML without comments.
Yaml override_value(std::string_view text, const std::string& source) {
  text = trim(text);
  if (begins_with_quote(text)) {
    Yaml value = make_scalar(read_word(text).text, source);
    value.quoted = true;
    return value;
  }
  Yaml value = parse_yaml(text, source);
  if (is_all_of(value, text)) return value;
  throw UsageError(fmt::format("{}: YAML reads only a part of this as the value\nput the value in quotes: {}", source,
                               quoted_word(std::string(text))));
}

}  // namespace

void apply_override(Yaml& tree, std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw UsageError(fmt::format("'{}' is not KEY=VALUE (for example optimizer.lr=0.01)", assignment));
  }
  Yaml value = override_value(assignment.substr(equals + 1), fmt::format("'{}'", assignment));
  value.line = 0;
  tree.set(assignment.substr(0, equals), std::move(value));
}

}  // namespace xlm
